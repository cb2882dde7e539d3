/** A style that a part brings with it: the build gathers all of them in `console.css`. */
declare module '*.css' {}
