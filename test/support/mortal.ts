/** The processes of the test kit, under the name by which the engine's own tests know them. */
export { type Mortal, mortal } from '../../packages/cairn/src/testing/world/mortal.ts';
