/** The clock of the test kit, under the name by which the engine's own tests know it. */
export { settle, VirtualClock } from '../../packages/cairn/src/testing/world/virtual-clock.ts';
