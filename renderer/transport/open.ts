/** The one place where the renderer finds out which host it runs in. */
import { connectElectron } from './electron.ts';
import type { Bridge } from './electron.ts';
import type { Transport } from './transport.ts';
import { connectWebSocket } from './web-socket.ts';

export function openTransport(): Transport {
  const bridge = (globalThis as { spillway?: Bridge }).spillway;
  if (bridge !== undefined) return connectElectron(bridge);
  forgetLinkToken();
  return connectWebSocket();
}

/** The cookie has taken over by now: the token of the printed link need not stay in the address bar and on screenshots. */
function forgetLinkToken(): void {
  const address = new URL(location.href);
  if (!address.searchParams.has('token')) return;
  address.searchParams.delete('token');
  history.replaceState(null, '', address.href);
}
