/** The page that the browser tests open, built before the first of them where it is missing or older than its sources. */
import { buildStale } from '../../scripts/builds.ts';

export default async function setup(): Promise<void> {
  await buildStale(['renderer']);
}
