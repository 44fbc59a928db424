/** The desktop's carrier: one screen for the page in the window, renewed whenever the page is. */
import type { IpcMainEvent, WebContents } from 'electron';
import { MESSAGE_BYTES_MAX } from '../shared/contract/frames.ts';
import type { EngineDoor } from '../shared/node/rpc/dispatcher.ts';
import { openScreen } from '../shared/node/rpc/screen.ts';
import type { Screen } from '../shared/node/rpc/screen.ts';
import { TAKEN, TO_ENGINE, TO_SCREEN } from './channels.ts';
import { isOwnPage } from './page-address.ts';

/** Texts that the page may have before it; then frames are held back and joined. */
const TEXTS_NOT_TAKEN_MAX = 4;

/** Answers the function that ends it. */
export function connectWindow(contents: WebContents, door: EngineDoor): () => void {
  let screen: Screen | null = null;
  let textsNotTaken = 0;
  let screensOpened = 0;

  const endScreen = (): void => {
    screen?.close();
    screen = null;
    textsNotTaken = 0;
  };

  const screenNow = (): Screen => {
    if (screen !== null) return screen;
    screensOpened += 1;
    const opened = openScreen({
      id: `desktop-${screensOpened}`,
      door,
      carrier: {
        send: (text) => {
          if (screen !== opened || contents.isDestroyed()) return;
          textsNotTaken += 1;
          contents.send(TO_SCREEN, text);
        },
        isBehind: () => textsNotTaken > TEXTS_NOT_TAKEN_MAX,
      },
    });
    screen = opened;
    return opened;
  };

  const isFromPage = (event: IpcMainEvent): boolean => {
    const frame = event.senderFrame;
    if (frame !== null && frame === contents.mainFrame && isOwnPage(frame.url)) return true;
    door.log?.({ kind: 'limit', event: 'foreign-frame', text: 'a message that is not from the page was left out' });
    return false;
  };

  contents.ipc.on(TO_ENGINE, (event, message: unknown) => {
    if (!isFromPage(event) || typeof message !== 'string') return;
    if (Buffer.byteLength(message) > MESSAGE_BYTES_MAX) {
      door.log?.({ kind: 'limit', event: 'message-too-large', limit: 'message-bytes', allowed: MESSAGE_BYTES_MAX });
      return;
    }
    screenNow().receive(message);
  });
  contents.ipc.on(TAKEN, (event) => {
    if (isFromPage(event) && textsNotTaken > 0) textsNotTaken -= 1;
  });
  // A fresh page knows no number of an old frame: it gets a screen of its own with its first request.
  contents.on('did-start-navigation', (details) => {
    if (details.isMainFrame && !details.isSameDocument) endScreen();
  });
  contents.on('render-process-gone', (_event, details) => {
    door.log?.({ kind: 'disconnect', event: 'window-process-ended', text: details.reason });
    endScreen();
  });
  contents.on('destroyed', endScreen);
  return endScreen;
}
