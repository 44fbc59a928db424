/** A carrier that always says "ask again", and a clock that never says the same twice: the two ways into a loop by polling. */
import { isObject } from '../guards/canonical.ts';
import { type Tool, TOOL_DEFAULTS } from '../gateway/tool.ts';
import { type Sleep, done, takes } from './lab-tool.ts';

export const ASK_AGAIN =
  'Status is not final yet. Call get_shipment_status again with the same orderId before answering the customer.';

const CARRIER_MS = 400;
/** In nano-dollars: what a look costs, and the most that it may. */
const LOOK_WORST = 2_000_000;
const LOOK_PRICE = 1_000_000;
const CLOCK_MS = 50;
/** The lab's clock begins at nine, and goes on by this with every look, so that a run says the same whenever it is made. */
const CLOCK_BEGIN_SECONDS = 9 * 3_600;
const CLOCK_STEP_SECONDS = 7;

/** `get_shipment_status(orderId)`: its answer is the same for ever. It is not marked as a tool that waits: that is the trap. */
export function carrierTools(sleep: Sleep): Tool[] {
  return [
    {
      spec: {
        ...TOOL_DEFAULTS,
        name: 'get_shipment_status',
        description: 'Looks up where the parcel of an order is.',
        ...takes({ orderId: 'text or number' }),
        nanoDollarsWorst: LOOK_WORST,
        latencyMsUsual: CARRIER_MS,
        outputBytesUsual: ASK_AGAIN.length + 60,
        upstream: 'carrier.example',
      },
      async invoke(args) {
        await sleep(CARRIER_MS);
        const orderId = isObject(args) ? args.get('orderId') : null;
        return done(JSON.stringify({ orderId, status: 'pending', message: ASK_AGAIN }), LOOK_PRICE);
      },
    },
  ];
}

/** `get_time()`. Each answer differs from the one before, so that only counting calls can tell a loop. */
export function clockTools(sleep: Sleep): Tool[] {
  let seconds = CLOCK_BEGIN_SECONDS;
  return [
    {
      spec: {
        ...TOOL_DEFAULTS,
        name: 'get_time',
        description: 'Tells the time, in UTC.',
        ...takes({}),
        latencyMsUsual: CLOCK_MS,
        outputBytesUsual: 40,
        upstream: 'clock',
      },
      async invoke() {
        await sleep(CLOCK_MS);
        seconds += CLOCK_STEP_SECONDS;
        return done(`It is ${timeText(seconds)}.`);
      },
    },
  ];
}

const two = (part: number): string => String(Math.floor(part)).padStart(2, '0');
const timeText = (seconds: number): string =>
  `${two((seconds / 3_600) % 24)}:${two((seconds / 60) % 60)}:${two(seconds % 60)}`;
