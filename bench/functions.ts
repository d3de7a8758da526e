/** The measured functions: those of the project, with the workflows of the benchmark. */
import { installWorkflows } from '../functions/src/shipped.ts';
import { deadly, fan, fatal, fatalFlow, held, largeItems, leaf, sequence, tree } from './workflows.ts';

export * from '../functions/src/index.ts';

installWorkflows([
  ...[3, 10, 100, 1_000, 5_000].map(sequence),
  fan(100),
  ...[100, 1_000, 5_000].map(fatal),
  fatalFlow(6_400),
  held,
  deadly,
  largeItems,
  leaf,
  tree(200),
]);
