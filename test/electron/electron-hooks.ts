/** For a child process that runs the built main: `electron` is the fake, and what happens is told on stdout as JSON. */
import { registerHooks } from 'node:module';

const fake = new URL('../support/electron-fake.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron' ? { url: fake, shortCircuit: true } : next(specifier, context),
});

const { app, recorded } = (await import(fake)) as typeof import('../support/electron-fake.ts');
if (process.env.FAKE_SECOND_INSTANCE === '1') recorded.hasInstanceLock = false;

const tell = (what: string): void => {
  const { windows, schemes, paths, sandboxed, quits, exitCode, errorBoxes } = recorded;
  const [window] = windows;
  process.stdout.write(
    `${JSON.stringify({ what, windows: windows.length, calls: window?.calls ?? [], preload: window?.options.webPreferences?.preload ?? null, schemes, paths, sandboxed, quits, exitCode, errorBoxes })}\n`,
  );
};
app.on('fake-exit', (code: number) => {
  tell('exit');
  process.exit(code);
});
// Stands for the moment at which a person would see the window.
const look = setInterval(() => {
  if (recorded.windows[0]?.calls.includes('show') !== true && recorded.quits === 0) return;
  clearInterval(look);
  void lookAtPage().then(() => {
    tell('shown');
    app.quit();
    if (recorded.windows.length === 0) process.exit(0);
  });
}, 10);

/** The page is fetched through the scheme, and one request goes over the line, as a window would do both. */
async function lookAtPage(): Promise<void> {
  const window = recorded.windows[0];
  if (window === undefined) return;
  const page = await recorded.schemeHandlers.spillway?.(new Request('spillway://app/index.html'));
  const answer = new Promise<string>((resolve) => {
    window.webContents.send = (_channel: string, text: unknown) => {
      resolve(text as string);
    };
  });
  window.webContents.ipc.emit(
    'spillway-to-engine',
    { senderFrame: window.webContents.mainFrame },
    JSON.stringify({ kind: 'request', id: 1, name: 'snapshot.get', params: {} }),
  );
  const { value } = JSON.parse(await answer) as { value: { app: { host: string } } };
  process.stdout.write(`${JSON.stringify({ what: 'looked', pageStatus: page?.status, host: value.app.host })}\n`);
}
