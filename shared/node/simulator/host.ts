/**
 * The simulator beside the engine: started when somebody asks for it, on a free loopback port, at most one.
 */
import { type Simulator, startSimulator } from './index.ts';

export interface SimulatorHost {
  /** The address; starts it when it does not run. */
  start(): Promise<string>;
  /** The address while it runs; null = nobody uses it. */
  address(): string | null;
  /** Every line of its log from here on, also of one that is started later. */
  onLogLine(listener: (line: string) => void): () => void;
  /** Safe to call when it does not run. */
  stop(): Promise<void>;
}

export function createSimulatorHost(options: { readonly timeScale: () => number }): SimulatorHost {
  let running: Promise<Simulator> | null = null;
  let heard: Simulator | null = null;
  let address: string | null = null;
  const listeners = new Set<(line: string) => void>();
  return {
    address: () => address,
    async start() {
      running ??= startSimulator({ port: 0, timeScale: options.timeScale() });
      const starting = running;
      try {
        const simulator = await starting;
        if (heard !== simulator) {
          heard = simulator;
          simulator.state.log.onLine((line) => {
            for (const listener of listeners) listener(line);
          });
        }
        // It may have been stopped while it started.
        if (running === starting) address = simulator.url;
        return simulator.url;
      } catch (error) {
        running = null;
        throw error;
      }
    },
    onLogLine(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async stop() {
      const current = running;
      running = null;
      address = null;
      await (await current)?.stop();
    },
  };
}
