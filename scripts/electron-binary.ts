/** Whether the desktop can start here. Found by file: importing the package would start a download. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly environment: NodeJS.ProcessEnv;
}

/** Path of the executable, or null where it is not installed. `packageFolder` is node_modules/electron. */
export function findElectron(packageFolder: string, machine: Machine): string | null {
  const dist = machine.environment.ELECTRON_OVERRIDE_DIST_PATH ?? join(packageFolder, 'dist');
  const file = join(dist, executableName(packageFolder, machine));
  return existsSync(file) ? file : null;
}

/** A Linux without a display has no place for a window. */
export function hasDisplay(machine: Machine): boolean {
  return (
    machine.platform !== 'linux' || Boolean(machine.environment.DISPLAY) || Boolean(machine.environment.WAYLAND_DISPLAY)
  );
}

function executableName(packageFolder: string, machine: Machine): string {
  const note = join(packageFolder, 'path.txt');
  if (machine.environment.ELECTRON_OVERRIDE_DIST_PATH === undefined && existsSync(note))
    return readFileSync(note, 'utf8').trim();
  if (machine.platform === 'darwin') return 'Electron.app/Contents/MacOS/Electron';
  return machine.platform === 'win32' ? 'electron.exe' : 'electron';
}
