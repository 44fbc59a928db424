/** What pages may not do: anything but show the one page and copy text. Set once, for every page that ever comes to be. */
import { app, dialog, shell } from 'electron';
import type { Session, WebContents } from 'electron';
import { PAGE_URL, isOwnPage } from './page-address.ts';

/** Before the app is ready. */
export function hardenApp(): void {
  app.enableSandbox();
  app.on('web-contents-created', (_event, contents) => {
    hardenContents(contents);
  });
}

/** Permissions, downloads and the network, for everything that uses this session. */
export function hardenSession(session: Session): void {
  session.setPermissionRequestHandler((contents, permission, callback) => {
    callback(isAllowed(permission, contents.getURL()));
  });
  session.setPermissionCheckHandler((contents, permission) => isAllowed(permission, contents?.getURL() ?? ''));
  session.setDevicePermissionHandler(() => false);
  // Exports are made by the page itself; nothing else is downloaded.
  session.on('will-download', (event, item) => {
    const address = item.getURL();
    if (!(address.startsWith('blob:') && isOwnPage(address.slice('blob:'.length)))) event.preventDefault();
  });
  session.webRequest.onBeforeRequest({ urls: ['<all_urls>'] }, (details, callback) => {
    callback({ cancel: !localSchemes.has(URL.parse(details.url)?.protocol ?? '') });
  });
}

/** The page talks to its host and to nobody else. */
const localSchemes = new Set(['spillway:', 'blob:', 'data:', 'devtools:']);

function hardenContents(contents: WebContents): void {
  contents.on('will-navigate', (event) => {
    // The page may load itself again, and go nowhere else.
    if (event.url.split('#', 1)[0] !== PAGE_URL) event.preventDefault();
  });
  contents.on('will-frame-navigate', (event) => {
    if (!event.isMainFrame) event.preventDefault();
  });
  contents.on('will-redirect', (event) => {
    event.preventDefault();
  });
  contents.on('will-attach-webview', (event) => {
    event.preventDefault();
  });
  contents.setWindowOpenHandler(({ url }) => {
    void askToOpen(url);
    return { action: 'deny' };
  });
}

function isAllowed(permission: string, address: string): boolean {
  return permission === 'clipboard-sanitized-write' && isOwnPage(address);
}

/** Only http and https, and only after the person has seen the whole address. */
async function askToOpen(address: string): Promise<void> {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return;
  const answer = await dialog.showMessageBox({
    type: 'question',
    message: 'Open this address in the browser?',
    detail: url.href,
    buttons: ['Open', 'Cancel'],
    defaultId: 1,
    cancelId: 1,
    noLink: true,
  });
  if (answer.response === 0) await shell.openExternal(url.href);
}
