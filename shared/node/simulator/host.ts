/**
 * The simulator beside the engine: started when somebody asks for it, on a free loopback port, at most one.
 */
import { type Simulator, startSimulator } from './index.ts';

export interface SimulatorHost {
  /** The address; starts it when it does not run. */
  start(): Promise<string>;
  /** Every line of its log from here on, also of one that is started later. */
  onLogLine(listener: (line: string) => void): () => void;
  /** Safe to call when it does not run. */
  stop(): Promise<void>;
}

export function createSimulatorHost(options: { readonly timeScale: () => number }): SimulatorHost {
  let running: Promise<Simulator> | null = null;
  let heard: Simulator | null = null;
  const listeners = new Set<(line: string) => void>();
  return {
    async start() {
      running ??= startSimulator({ port: 0, timeScale: options.timeScale() });
      try {
        const simulator = await running;
        if (heard !== simulator) {
          heard = simulator;
          simulator.state.log.onLine((line) => {
            for (const listener of listeners) listener(line);
          });
        }
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
      await (await current)?.stop();
    },
  };
}
