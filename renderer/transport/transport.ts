/**
 * What the renderer knows of its host: requests go out, results and numbered frames come in. Which carrier is underneath
 * (WebSocket, Electron IPC, memory in tests) is decided once, in open.ts.
 */
import type { Result } from '../../shared/contract/denials.ts';
import type { ToScreen } from '../../shared/contract/frames.ts';
import type { RequestName, RequestParams, RequestResult } from '../../shared/contract/requests.ts';

export type Frame = Extract<ToScreen, { kind: 'frame' }>;

/**
 * connecting: first try, requests wait. connected: requests go out at once. waiting: the host does not answer, the next try
 * comes by itself. refused: the host is there and does not know this page (it was started again): the printed link is
 * needed. closed: ended from here, for good.
 */
export type TransportState = 'connecting' | 'connected' | 'waiting' | 'refused' | 'closed';

export interface Transport {
  state(): TransportState;
  /** Never rejects: a lost connection is a denial like any other (code `cancelled`). */
  request<Name extends RequestName>(name: Name, params: RequestParams<Name>): Promise<Result<RequestResult<Name>>>;
  /**
   * Frames in the order in which they came. `seq` starts at 1 with every change to `connected`: ask for `snapshot.get`
   * then, and again when a number is missing or `dropped` is above 0. Answers the function that ends the subscription.
   */
  onFrame(listener: (frame: Frame) => void): () => void;
  /** Called on every change, not for the state at the time of subscribing. */
  onStateChange(listener: (state: TransportState) => void): () => void;
  close(): void;
}
