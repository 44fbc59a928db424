/** The one window. */
import { BrowserWindow, app, nativeTheme } from 'electron';
import { PAGE_URL } from './page-address.ts';

/** Pages that end again and again are not loaded for ever. */
const RELOADS_MAX = 3;

export async function openWindow(preloadFile: string): Promise<BrowserWindow> {
  const window = new BrowserWindow({
    width: 1_280,
    height: 800,
    minWidth: 900,
    minHeight: 600,
    show: false,
    title: 'Spillway',
    backgroundColor: nativeTheme.shouldUseDarkColors ? '#16181D' : '#FFFFFF',
    webPreferences: {
      preload: preloadFile,
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webSecurity: true,
      allowRunningInsecureContent: false,
      experimentalFeatures: false,
      webviewTag: false,
      navigateOnDragDrop: false,
      // Dictionaries would be fetched from the network.
      spellcheck: false,
      devTools: !app.isPackaged,
    },
  });
  window.once('ready-to-show', () => {
    window.show();
  });
  // Model names and texts must not end up in the title bar.
  window.on('page-title-updated', (event) => {
    event.preventDefault();
  });
  let reloads = 0;
  window.webContents.on('render-process-gone', (_event, details) => {
    if (details.reason === 'clean-exit' || reloads >= RELOADS_MAX) return;
    reloads += 1;
    window.webContents.reload();
  });
  await window.loadURL(PAGE_URL);
  return window;
}

/** For a second start of the program. */
export function focusWindow(window: BrowserWindow | null): void {
  if (window === null || window.isDestroyed()) return;
  if (window.isMinimized()) window.restore();
  window.show();
  window.focus();
}
