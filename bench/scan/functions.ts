/** The functions of `bench:scan -- --cloud`: those of the project, with the workflows of this benchmark. */
import { installWorkflows } from '../../functions/src/shipped.ts';
import { SCANNED } from './workflows.ts';

export * from '../../functions/src/index.ts';

installWorkflows(SCANNED);
