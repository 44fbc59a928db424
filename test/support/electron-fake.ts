/**
 * Stands in for electron: importing the real package in plain Node starts a download. It records what the shell asks for
 * and lets a test play the window's side. One process, one fake: `resetElectron` between tests.
 */
import { EventEmitter } from 'node:events';
import type Electron from 'electron';

export interface Exposed {
  send(message: unknown): void;
  subscribe(listener: (message: string) => void): () => void;
}

export const recorded = {
  windows: [] as FakeWindow[],
  exposed: {} as Record<string, Exposed>,
  schemes: [] as unknown[],
  schemeHandlers: {} as Record<string, (request: Request) => Promise<Response>>,
  paths: {} as Record<string, string>,
  opened: [] as string[],
  errorBoxes: [] as string[],
  questions: [] as { message: string; detail?: string }[],
  /** Index of the button that the next question is answered with. */
  answer: 1,
  hasInstanceLock: true,
  sandboxed: false,
  exitCode: null as number | null,
  quits: 0,
  menu: null as unknown,
};

export class FakeContents extends EventEmitter {
  readonly ipc = new EventEmitter();
  readonly mainFrame = { url: 'about:blank' };
  windowOpenHandler: ((details: { url: string }) => { action: string }) | null = null;
  reloads = 0;
  isGone = false;

  send(channel: string, ...values: unknown[]): void {
    queueMicrotask(() => ipcRenderer.emit(channel, {}, ...values));
  }
  setWindowOpenHandler(handler: (details: { url: string }) => { action: string }): void {
    this.windowOpenHandler = handler;
  }
  getURL(): string {
    return this.mainFrame.url;
  }
  isDestroyed(): boolean {
    return this.isGone;
  }
  reload(): void {
    this.reloads += 1;
    this.emit('did-start-navigation', { isMainFrame: true, isSameDocument: false, url: this.mainFrame.url });
  }
}

export class FakeWindow extends EventEmitter {
  readonly webContents = new FakeContents();
  readonly calls: string[] = [];
  readonly options: Electron.BrowserWindowConstructorOptions;

  constructor(options: Electron.BrowserWindowConstructorOptions = {}) {
    super();
    this.options = options;
    recorded.windows.push(this);
    app.emit('web-contents-created', {}, this.webContents);
    app.emit('browser-window-created', {}, this);
  }
  loadURL(url: string): Promise<void> {
    this.calls.push(`loadURL ${url}`);
    this.webContents.emit('did-start-navigation', { isMainFrame: true, isSameDocument: false, url });
    this.webContents.mainFrame.url = url;
    this.emit('ready-to-show');
    return Promise.resolve();
  }
  show(): void {
    this.calls.push('show');
  }
  focus(): void {
    this.calls.push('focus');
  }
  restore(): void {
    this.calls.push('restore');
  }
  isMinimized(): boolean {
    return true;
  }
  isDestroyed(): boolean {
    return false;
  }
}

class FakeSession extends EventEmitter {
  permissionRequest:
    ((contents: FakeContents, permission: string, callback: (granted: boolean) => void) => void) | null = null;
  permissionCheck: ((contents: FakeContents | null, permission: string) => boolean) | null = null;
  deviceCheck: (() => boolean) | null = null;
  beforeRequest: ((details: { url: string }, callback: (answer: { cancel: boolean }) => void) => void) | null = null;
  readonly webRequest = {
    onBeforeRequest: (_filter: unknown, handler: FakeSession['beforeRequest']): void => {
      this.beforeRequest = handler;
    },
  };

  setPermissionRequestHandler(handler: FakeSession['permissionRequest']): void {
    this.permissionRequest = handler;
  }
  setPermissionCheckHandler(handler: FakeSession['permissionCheck']): void {
    this.permissionCheck = handler;
  }
  setDevicePermissionHandler(handler: FakeSession['deviceCheck']): void {
    this.deviceCheck = handler;
  }
}

export const app = Object.assign(new EventEmitter(), {
  isPackaged: false,
  enableSandbox: (): void => {
    recorded.sandboxed = true;
  },
  setPath: (name: string, path: string): void => {
    recorded.paths[name] = path;
  },
  requestSingleInstanceLock: (): boolean => recorded.hasInstanceLock,
  whenReady: (): Promise<void> => Promise.resolve(),
  getVersion: (): string => '0.0.0-test',
  quit: (): void => {
    recorded.quits += 1;
    app.emit('before-quit', { preventDefault: () => undefined });
  },
  exit: (code: number): void => {
    recorded.exitCode = code;
    app.emit('fake-exit', code);
  },
});

export const ipcRenderer = Object.assign(new EventEmitter(), {
  /** Goes to the last window's contents, as from its main frame. */
  send: (channel: string, ...values: unknown[]): void => {
    const contents = recorded.windows.at(-1)?.webContents;
    queueMicrotask(() => contents?.ipc.emit(channel, { senderFrame: contents.mainFrame }, ...values));
  },
});

export const contextBridge = {
  exposeInMainWorld: (name: string, bridge: Exposed): void => {
    recorded.exposed[name] = bridge;
  },
};

export const protocol = {
  registerSchemesAsPrivileged: (schemes: unknown[]): void => {
    recorded.schemes = schemes;
  },
  handle: (scheme: string, handler: (request: Request) => Promise<Response>): void => {
    recorded.schemeHandlers[scheme] = handler;
  },
};

export const dialog = {
  showErrorBox: (title: string, text: string): void => {
    recorded.errorBoxes.push(`${title}: ${text}`);
  },
  showMessageBox: (question: { message: string; detail?: string }): Promise<{ response: number }> => {
    recorded.questions.push(question);
    return Promise.resolve({ response: recorded.answer });
  },
};

export const shell = {
  openExternal: (url: string): Promise<void> => {
    recorded.opened.push(url);
    return Promise.resolve();
  },
};

export const session = { defaultSession: new FakeSession() };
export const nativeTheme = { shouldUseDarkColors: true };
export const Menu = {
  buildFromTemplate: (template: unknown): unknown => template,
  setApplicationMenu: (menu: unknown): void => {
    recorded.menu = menu;
  },
};
export { FakeWindow as BrowserWindow };

/** Every name is one that electron has: a typing error in the shell's imports cannot hide behind the fake. */
const fake = {
  app,
  BrowserWindow: FakeWindow,
  contextBridge,
  dialog,
  ipcRenderer,
  Menu,
  nativeTheme,
  protocol,
  session,
  shell,
} satisfies {
  [Name in keyof typeof Electron]?: unknown;
};
export default fake;

/** What a page of the last window does next comes from the start; listeners of the preload stay. */
export function resetElectron(): void {
  app.removeAllListeners();
  session.defaultSession = new FakeSession();
  Object.assign(recorded, {
    windows: [],
    schemes: [],
    schemeHandlers: {},
    paths: {},
    opened: [],
    errorBoxes: [],
    questions: [],
    answer: 1,
    hasInstanceLock: true,
    sandboxed: false,
    exitCode: null,
    quits: 0,
    menu: null,
  });
}
