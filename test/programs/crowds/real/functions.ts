/** The project's own functions over the workflow of the crowds, with bodies that harm their processes. */
import { installWorkflows } from '../../../../functions/src/shipped.ts';
import { crowd } from '../grammar.ts';
import { act, noteAnswers } from './harm.ts';

export * from '../../../../functions/src/index.ts';

noteAnswers();
installWorkflows([crowd(act)]);
