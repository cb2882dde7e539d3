/** A style that belongs to a part. The build collects all of them in `console.css`. */
declare module '*.css' {}
