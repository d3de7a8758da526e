import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LoadReports } from '../../../packages/local/src/dev/load-reports.ts';

const codebase = fc.constantFrom('shop', 'admin');
const names = fc.uniqueArray(fc.constantFrom('PLAN', 'BUCKET', 'KEY'));

function reporting() {
  const warned: object[] = [];
  const reports = new LoadReports({
    settingsOf: (name) => name,
    warn: (event, message, fields) => warned.push({ event, message, ...fields }),
  });
  return { reports, warned };
}

test('a parameter is reported at the first load without a value, and again once it has had one, of each codebase', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(codebase, names)), (loads) => {
      const { reports, warned } = reporting();
      const last: Record<string, readonly string[]> = {};
      for (const [name, parameters] of loads) {
        warned.length = 0;
        reports.unset(name, parameters);
        const news = parameters.filter((one) => !last[name]?.includes(one));
        expect(warned).toEqual(
          news.length === 0 ? [] : [expect.objectContaining({ codebase: name, parameters: news })],
        );
        last[name] = parameters;
      }
    }),
  );
});

test('a secret with a generated value is reported once', () => {
  fc.assert(
    fc.property(fc.array(names), (loads) => {
      const { reports, warned } = reporting();
      for (const secrets of loads) reports.generated(secrets);
      const found = warned.flatMap((one) => (one as { secrets: string[] }).secrets);
      expect(found).toEqual([...new Set(loads.flat())]);
    }),
  );
});
