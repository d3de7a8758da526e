import { expect, test } from '@jest/globals';
import { assertFindsFiles } from '../../../packages/cairn/src/platform/installation/bundled.ts';

test('a bundle in CommonJS is refused when its functions are defined, with what to do', () => {
  expect(() => assertFindsFiles(undefined)).toThrow(/'cairn' is part of a bundle.*--external:cairn/);
  expect(() => assertFindsFiles(import.meta.url)).not.toThrow();
});
