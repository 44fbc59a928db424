/** Names on the line between the window and its host. No import here: the sandboxed preload takes this file along as it is. */
export const TO_ENGINE = 'spillway-to-engine';
export const TO_SCREEN = 'spillway-to-screen';
/** The window has taken one text: the host counts them, so that a busy page is not buried in frames. */
export const TAKEN = 'spillway-taken';
/** Name of the bridge on the page's `window`. */
export const BRIDGE = 'spillway';
