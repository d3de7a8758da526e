/** The ESLint plugin for the code of flows: its rules, and a configuration with all of them. */
import type { ESLint, Linter, Rule } from 'eslint';
import { awaitOperations } from './rules/await-operations.ts';
import { noOperationsInBodies } from './rules/no-operations-in-bodies.ts';
import { noUnrecordedValues } from './rules/no-unrecorded-values.ts';
import { noWorkOutsideSteps } from './rules/no-work-outside-steps.ts';

const rules = {
  'await-operations': awaitOperations,
  'no-operations-in-bodies': noOperationsInBodies,
  'no-unrecorded-values': noUnrecordedValues,
  'no-work-outside-steps': noWorkOutsideSteps,
} satisfies Record<string, Rule.RuleModule>;

export interface FlowPlugin extends ESLint.Plugin {
  readonly rules: typeof rules;
  readonly configs: { readonly recommended: Linter.Config };
}

const plugin: FlowPlugin = {
  meta: { name: 'cairn' },
  rules,
  configs: {
    get recommended(): Linter.Config {
      return {
        name: 'cairn/recommended',
        plugins: { cairn: plugin },
        rules: Object.fromEntries(Object.keys(rules).map((name) => [`cairn/${name}`, 'error'])),
      };
    },
  },
};

export default plugin;
