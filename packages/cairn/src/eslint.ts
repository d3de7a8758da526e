/** `cairn/eslint`: an ESLint plugin that finds mistakes in the code of flows (docs/flows.md). Loads no module of the engine. */
export { default, type FlowPlugin } from './lint/plugin.ts';
