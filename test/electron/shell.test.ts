/** What the desktop shell asks of Electron: every option and handler that keeps a page in its place. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Session, WebContents } from 'electron';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hardenApp, hardenSession } from '../../electron/hardening.ts';
import { connectWindow } from '../../electron/ipc.ts';
import { TAKEN, TO_ENGINE, TO_SCREEN } from '../../electron/channels.ts';
import { PAGE_URL, isOwnPage } from '../../electron/page-address.ts';
import { createPageHandler } from '../../electron/page-protocol.ts';
import { focusWindow, openWindow } from '../../electron/window.ts';
import { MESSAGE_BYTES_MAX, toScreenSchema } from '../../shared/contract/frames.ts';
import { until } from '../contract/carriers.ts';
import { createFakeDoor } from '../contract/fake-door.ts';
import { notice } from '../contract/samples.ts';
import { FakeContents, FakeWindow, recorded, resetElectron, session } from '../support/electron-fake.ts';

beforeEach(resetElectron);

describe('the window', () => {
  test('is a sandboxed page without Node, with the one preload', async () => {
    await openWindow('/app/preload.cjs');
    const [window] = recorded.windows;
    expect(window?.options.webPreferences).toEqual({
      preload: '/app/preload.cjs',
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
      spellcheck: false,
      devTools: true,
    });
    expect(window?.calls).toEqual([`loadURL ${PAGE_URL}`, 'show']);
  });

  test('a page whose process ends is loaded again, and not for ever', async () => {
    await openWindow('/app/preload.cjs');
    const contents = recorded.windows[0]?.webContents as FakeContents;
    for (let index = 0; index < 10; index += 1) contents.emit('render-process-gone', {}, { reason: 'crashed' });
    expect(contents.reloads).toBe(3);
  });

  test('a title from the page is not taken', async () => {
    await openWindow('/app/preload.cjs');
    expect(isPrevented((event) => recorded.windows[0]?.emit('page-title-updated', event, 'hostile'))).toBe(true);
  });

  test('a second start brings it to the front', async () => {
    await openWindow('/app/preload.cjs');
    const window = recorded.windows[0] as FakeWindow;
    window.calls.length = 0;
    focusWindow(window as unknown as Parameters<typeof focusWindow>[0]);
    expect(window.calls).toEqual(['restore', 'show', 'focus']);
  });
});

describe('pages', () => {
  const contents = (): FakeContents => new FakeWindow().webContents;
  const foreign = [
    'https://evil.example/',
    'http://127.0.0.1:11480/',
    'file:///etc/passwd',
    'spillway://evil/index.html',
    'javascript:alert(1)',
    'data:text/html,x',
    `${PAGE_URL}/../x`,
  ];

  test('the whole app is sandboxed', () => {
    hardenApp();
    expect(recorded.sandboxed).toBe(true);
  });

  test.each(foreign)('%s is never navigated to', (url) => {
    hardenApp();
    const page = contents();
    expect(isPrevented((event) => page.emit('will-navigate', { ...event, url }))).toBe(true);
    expect(isPrevented((event) => page.emit('will-redirect', { ...event, url }))).toBe(true);
    expect(isPrevented((event) => page.emit('will-frame-navigate', { ...event, url, isMainFrame: false }))).toBe(true);
  });

  test('the page may load itself again', () => {
    hardenApp();
    expect(isPrevented((event) => contents().emit('will-navigate', { ...event, url: `${PAGE_URL}#context` }))).toBe(
      false,
    );
  });

  test('no webview, no new window', async () => {
    hardenApp();
    const page = contents();
    expect(isPrevented((event) => page.emit('will-attach-webview', event))).toBe(true);
    for (const url of foreign) expect(page.windowOpenHandler?.({ url })).toEqual({ action: 'deny' });
  });

  test('links leave only as http or https, and only after a yes', async () => {
    hardenApp();
    const page = contents();
    const ask = async (url: string, answer: number): Promise<void> => {
      recorded.answer = answer;
      page.windowOpenHandler?.({ url });
      await new Promise((resolve) => setTimeout(resolve, 0));
    };
    await ask('https://example.com/a?b', 1);
    expect(recorded.opened).toEqual([]);
    await ask('https://example.com/a?b', 0);
    await ask('http://example.com/', 0);
    expect(recorded.opened).toEqual(['https://example.com/a?b', 'http://example.com/']);
    expect(recorded.questions.map((one) => one.detail)).toContain('https://example.com/a?b');
    const questions = recorded.questions.length;
    for (const url of [
      'file:///etc/passwd',
      'javascript:alert(1)',
      'smb://x/y',
      'ms-settings:',
      'spillway://app/',
      'not an address',
      '',
    ])
      await ask(url, 0);
    expect([recorded.opened.length, recorded.questions.length]).toEqual([2, questions]);
  });
});

describe('the session', () => {
  const page = { getURL: () => PAGE_URL };

  test('no permission but copying text, and that for the page alone', () => {
    const current = harden();
    const granted = (permission: string, from: { getURL(): string }): boolean => {
      let answer = false;
      current.permissionRequest?.(from as FakeContents, permission, (value) => (answer = value));
      expect(current.permissionCheck?.(from as FakeContents, permission)).toBe(answer);
      return answer;
    };
    const others = [
      'media',
      'geolocation',
      'notifications',
      'midi',
      'fullscreen',
      'pointerLock',
      'openExternal',
      'clipboard-read',
      'hid',
      'serial',
      'usb',
      'fileSystem',
      'unknown',
    ];
    expect(others.filter((permission) => granted(permission, page))).toEqual([]);
    expect(granted('clipboard-sanitized-write', page)).toBe(true);
    expect(granted('clipboard-sanitized-write', { getURL: () => 'https://evil.example/' })).toBe(false);
    expect(current.permissionCheck?.(null, 'clipboard-sanitized-write')).toBe(false);
    expect(current.deviceCheck?.()).toBe(false);
  });

  test('the page reaches no network', () => {
    const current = harden();
    const isCancelled = (url: string): boolean => {
      let cancelled = false;
      current.beforeRequest?.({ url }, (answer) => (cancelled = answer.cancel));
      return cancelled;
    };
    expect(
      ['https://evil.example/', 'http://127.0.0.1:11434/', 'ws://127.0.0.1/', 'file:///etc/passwd', 'ftp://x/', ''].map(
        isCancelled,
      ),
    ).toEqual(Array(6).fill(true));
    expect([PAGE_URL, `blob:${PAGE_URL}`, 'data:image/png;base64,'].map(isCancelled)).toEqual([false, false, false]);
  });

  test('only what the page made itself is downloaded', () => {
    const current = harden();
    const isStopped = (url: string): boolean =>
      isPrevented((event) => current.emit('will-download', event, { getURL: () => url }));
    expect(
      ['https://evil.example/x', 'blob:https://evil.example/x', 'data:text/csv,x', 'blob:spillway://app/1'].map(
        isStopped,
      ),
    ).toEqual([true, true, true, false]);
  });

  function harden(): typeof session.defaultSession {
    hardenSession(session.defaultSession as unknown as Session);
    return session.defaultSession;
  }
});

describe('the page’s own scheme', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'spillway-desktop-'));
    mkdirSync(join(folder, 'renderer/assets'), { recursive: true });
    writeFileSync(join(folder, 'renderer/index.html'), '<!doctype html>');
    writeFileSync(join(folder, 'renderer/assets/a.js'), 'export {};');
    writeFileSync(join(folder, 'renderer/assets/a.sh'), 'echo');
    writeFileSync(join(folder, 'secret.json'), '{}');
    mkdirSync(join(folder, 'renderer-other'));
    writeFileSync(join(folder, 'renderer-other/a.json'), '{}');
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const get = (url: string, method = 'GET'): Promise<Response> =>
    createPageHandler(join(folder, 'renderer'))(new Request(url, { method }));

  test('serves the build with types and a strict policy', async () => {
    const answer = await get('spillway://app/index.html');
    expect([answer.status, await answer.text()]).toEqual([200, '<!doctype html>']);
    expect(answer.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    const script = await get('spillway://app/assets/a.js');
    expect([script.status, script.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
  });

  test.each([
    'spillway://app/../secret.json',
    'spillway://app/%2e%2e/secret.json',
    'spillway://app/..%2fsecret.json',
    'spillway://app/%2e%2e%2frenderer-other/a.json',
    'spillway://app/..%5csecret.json',
    'spillway://app/assets/a.sh',
    'spillway://app/assets',
    'spillway://app/%',
    'spillway://app/a%00.js',
    'spillway://evil/index.html',
    'spillway://app.evil/index.html',
  ])('%s answers nothing', async (url) => {
    expect((await get(url)).status).toBe(404);
  });

  test('only GET', async () => {
    expect((await get('spillway://app/index.html', 'POST')).status).toBe(404);
  });

  test('addresses that only look like it are other pages', () => {
    expect([PAGE_URL, 'spillway://app/', 'spillway://app/#context'].map(isOwnPage)).toEqual([true, true, true]);
    expect(
      [
        'spillway://app.evil/',
        'spillway://app@evil/',
        'spillway://evil@app/',
        'spillway-x://app/',
        'https://app/',
        'about:blank',
        '',
        'spillway:app',
        'spillway://app:1/',
      ].map(isOwnPage),
    ).toEqual(Array(9).fill(false));
  });
});

describe('the line to the page', () => {
  const request = JSON.stringify({ kind: 'request', id: 1, name: 'run.list', params: {} });

  test('only the main frame of our page is heard', () => {
    const { contents, door } = connect();
    const from = (senderFrame: unknown, message: unknown = request): boolean =>
      contents.ipc.emit(TO_ENGINE, { senderFrame }, message);
    from(null);
    from({ url: PAGE_URL });
    contents.mainFrame.url = 'https://evil.example/';
    from(contents.mainFrame);
    contents.mainFrame.url = 'spillway://app.evil/index.html';
    from(contents.mainFrame);
    contents.mainFrame.url = PAGE_URL;
    from(contents.mainFrame, { kind: 'request' });
    from(contents.mainFrame, 7);
    from(contents.mainFrame, 'x'.repeat(MESSAGE_BYTES_MAX + 1));
    expect([door.calls, door.listeners()]).toEqual([[], 0]);
    from(contents.mainFrame);
    expect(door.listeners()).toBe(1);
  });

  test('a page that takes nothing gets no further frame, and one that goes on gets all of it', async () => {
    const { contents, door } = connect();
    const texts: string[] = [];
    contents.send = (channel: string, text: unknown) => {
      if (channel === TO_SCREEN) texts.push(text as string);
    };
    contents.ipc.emit(TO_ENGINE, { senderFrame: contents.mainFrame }, request);
    await until(() => texts.length === 1, 'the answer');
    for (let index = 0; index < 12; index += 1) {
      door.emit(notice(String(index)));
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    const held = texts.length;
    expect(held).toBeLessThanOrEqual(5);
    for (let index = 0; index < held; index += 1) contents.ipc.emit(TAKEN, { senderFrame: contents.mainFrame });
    const seen = (): string[] =>
      texts.flatMap((text) => {
        const message = toScreenSchema.parse(JSON.parse(text));
        return message.kind === 'frame'
          ? message.events.map((event) => (event.type === 'notice-raised' ? event.text : ''))
          : [];
      });
    await until(() => seen().length === 12, 'the rest');
    expect(seen()).toEqual(Array.from({ length: 12 }, (_, index) => String(index)));
  });

  test('a page that is loaded again starts with a line of its own', async () => {
    const { contents, door } = connect();
    contents.ipc.emit(TO_ENGINE, { senderFrame: contents.mainFrame }, request);
    await until(() => door.calls.length === 1, 'the first page');
    contents.reload();
    expect([door.listeners(), door.calls[0]?.context.signal.aborted]).toEqual([0, true]);
    contents.ipc.emit(TO_ENGINE, { senderFrame: contents.mainFrame }, request);
    await until(() => door.calls.length === 2, 'the second page');
    expect(door.calls.map((call) => call.context.screenId)).toEqual(['desktop-1', 'desktop-2']);
    contents.emit('did-start-navigation', { isMainFrame: true, isSameDocument: true, url: `${PAGE_URL}#x` });
    expect(door.listeners()).toBe(1);
    contents.emit('render-process-gone', {}, { reason: 'crashed' });
    expect(door.listeners()).toBe(0);
  });

  function connect() {
    const door = createFakeDoor();
    const { webContents: contents } = new FakeWindow();
    contents.mainFrame.url = PAGE_URL;
    connectWindow(contents as unknown as WebContents, door);
    return { contents, door };
  }
});

function isPrevented(emit: (event: { preventDefault(): void }) => void): boolean {
  let prevented = false;
  emit({ preventDefault: () => (prevented = true) });
  return prevented;
}
