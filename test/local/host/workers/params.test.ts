import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setDefaults } from '../../../../packages/local/src/host/workers/params.ts';

const SHARED = Symbol.for('firebase-functions:params:declaredParams');
const OF_VERSION = Symbol.for('firebase-functions:params:declaredParams:v7');
const lists = globalThis as unknown as Record<symbol, unknown>;

afterEach(() => {
  delete lists[SHARED];
  delete lists[OF_VERSION];
});

/** A default as functions write it, and the text that a deployment writes for it. */
const defaults = fc.oneof(
  fc.string().map((value) => [value, value] as const),
  fc.integer().map((value) => [value, `${value}`] as const),
  fc.boolean().map((value) => [value, `${value}`] as const),
  fc.array(fc.string()).map((value) => [value, JSON.stringify(value)] as const),
  // An expression, such as `projectID` of firebase-functions.
  fc.string().map((value) => [{ value: () => value, toCEL: () => '{{ params.OTHER }}' }, value] as const),
);

describe('a parameter that functions declare', () => {
  const params = fc.uniqueArray(
    fc.record({
      name: fc.stringMatching(/^[A-Z][A-Z0-9_]{0,8}$/),
      type: fc.constantFrom('string', 'int', 'list', 'secret'),
      given: fc.option(fc.string(), { nil: undefined }),
      fallback: fc.option(defaults, { nil: undefined }),
    }),
    { selector: ({ name }) => name },
  );

  test('has its value, else its default, else is reported', () => {
    fc.assert(
      fc.property(params, fc.boolean(), (declared, isRepeated) => {
        const list = declared.map(({ name, type, fallback }) => ({
          name,
          options: fallback === undefined ? {} : { default: fallback[0] },
          toSpec: () => ({ type }),
        }));
        lists[SHARED] = list;
        if (isRepeated) lists[OF_VERSION] = list;
        const env: NodeJS.ProcessEnv = {};
        for (const { name, given } of declared) if (given !== undefined) env[name] = given;
        const unset = setDefaults('/shop/functions/index.js', env);
        for (const { name, type, given, fallback } of declared) {
          const isSecret = type === 'secret';
          expect(env[name]).toBe(given ?? (isSecret ? undefined : fallback?.[1]));
          expect(unset.includes(name)).toBe(!isSecret && given === undefined && fallback === undefined);
        }
      }),
    );
  });
});

describe('of firebase-functions before version 7', () => {
  test('the parameters are those of the copy that the functions loaded', () => {
    const folder = mkdtempSync(join(tmpdir(), 'cairn-params-'));
    try {
      const installed = join(folder, 'node_modules/firebase-functions');
      mkdirSync(installed, { recursive: true });
      writeFileSync(join(installed, 'package.json'), '{ "exports": { "./params": "./params.js" } }');
      writeFileSync(
        join(installed, 'params.js'),
        `exports.declaredParams = [
          { name: 'REGION', options: { default: 'us-east1' }, toSpec: () => ({ type: 'string' }) },
          { name: 'PLAN', options: {}, toSpec: () => ({ type: 'string' }) },
        ];`,
      );
      writeFileSync(join(folder, 'index.js'), "require('firebase-functions/params');");
      const module = join(folder, 'index.js');
      const ours = join(import.meta.dirname, '../../../../packages/local/src/host/workers/params.ts');
      const script = `
        const { setDefaults } = await import(${JSON.stringify(pathToFileURL(ours).href)});
        const module = ${JSON.stringify(module)};
        const before = setDefaults(module, {});
        await import(module);
        const env = {};
        console.log(JSON.stringify({ before, unset: setDefaults(module, env), env }));`;
      const printed = execFileSync(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script],
        { encoding: 'utf8' },
      );
      expect(JSON.parse(printed)).toEqual({ before: [], unset: ['PLAN'], env: { REGION: 'us-east1' } });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
