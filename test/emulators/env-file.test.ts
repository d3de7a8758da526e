import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { envFile, namesIn, parametersAmong } from '../../packages/local/src/emulators/env-file.ts';

/** As firebase-tools documents its environment files: double quotes, in which a backslash escapes. */
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };
const read = (line: string) => {
  const [, name, text] = /^([A-Z]+)="((?:\\.|[^"\\\n])*)"\n$/.exec(line) ?? [];
  return [name, text?.replace(/\\(.)/g, (_all, character: string) => ESCAPES[character] ?? character)];
};

test('any value is read back as it was written', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (value) => {
      expect(read(envFile({ NAME: value }))).toEqual(['NAME', value]);
    }),
  );
  expect(read(envFile({ NAME: 'a"b\\n\n#\t\r' }))).toEqual(['NAME', 'a"b\\n\n#\t\r']);
});

test('only what the functions declare is written to their file, whatever else is in the environment', () => {
  const names = namesIn('# a comment\nFIRST=1\n#SECOND=2\n\nTHIRD=\n');
  expect(names).toEqual(['FIRST', 'THIRD']);
  expect(parametersAmong(names, { FIRST: 'x', SECOND: 'y', PATH: '/bin' })).toEqual({ FIRST: 'x' });
  expect(parametersAmong(names, { THIRD: '' })).toEqual({ THIRD: '' });
});
