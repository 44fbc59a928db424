/** The page has a scheme of its own: no other page can have its origin, and file:// stays out of it. */
export const PAGE_SCHEME = 'spillway';
export const PAGE_URL = 'spillway://app/index.html';

/** Parsed and compared as a whole: `spillway://app.evil/` and `spillway-app://` are other pages. */
export function isOwnPage(address: string): boolean {
  const url = URL.parse(address);
  return (
    url !== null &&
    url.protocol === `${PAGE_SCHEME}:` &&
    url.host === 'app' &&
    url.username === '' &&
    url.password === ''
  );
}
