// Checks the code of flows with the rules that the package publishes (docs/flows.md). All else is Biome's.
import cairn from 'cairn/eslint';
import * as parser from './scripts/lint/typescript-parser.ts';

export default [
  { ignores: ['**/*.js', '**/*.mjs', '**/*.cjs', 'build/**', '.cairn/**'] },
  {
    ...cairn.configs.recommended,
    files: [
      'examples/**/*.ts',
      'functions/src/**/*.ts',
      'packages/agents/src/**/*.ts',
      'test/{agents,programs,sweep}/**/*.ts',
      'test/engine/flows/**/*.ts',
    ],
    languageOptions: { parser },
  },
];
