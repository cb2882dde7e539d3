/** Shows the address of the service that gave this page, prefix included, in place of the one it was written with. */
const base = location.origin + location.pathname.replace(/\/docs\/?$/i, '')
for (const code of document.querySelectorAll('#start pre code')) {
  code.textContent = (code.textContent ?? '').replace('https://feed.example.com', base)
}
