/** The clock of the test kit, re-exported for the engine's own tests. */
export { settle, VirtualClock } from '../../packages/cairn/src/testing/world/virtual-clock.ts';
