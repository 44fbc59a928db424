/** Takes the lock of the folder given, says so on stdout, and holds it until it is killed. Also says when it is refused. */
import { acquireLock } from '../../../shared/node/storage/lock.ts';

const folder = process.argv[2] ?? '';
const lock = acquireLock({ folder }, { pid: process.pid, host: 'browser', url: null });
if (lock.ok) lock.value.update({ pid: process.pid, host: 'browser', url: 'http://127.0.0.1:11480' });
process.stdout.write(`${lock.ok ? 'held' : `refused ${lock.denial.message}`}\n`);
if (lock.ok) setInterval(() => undefined, 60_000);
