/** The functions of `bench:scan -- --cloud`: the project's own, with the workflows of this benchmark instead of the shipped ones. */
import { installWorkflows } from '../../functions/src/shipped.ts';
import { SCANNED } from './workflows.ts';

export * from '../../functions/src/index.ts';

installWorkflows(SCANNED);
