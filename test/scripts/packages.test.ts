import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

// Plain JS, since it runs before anything is installed.
const url = new URL('../../scripts/packages.mjs', import.meta.url);
const { deprecatedIn, auditOf } = (await import(url.href)) as {
  deprecatedIn(lock: object): string[];
  auditOf(text: string): { unreachable?: string; bad?: string[]; mild?: string[] };
};

describe('what the registry tells of the packages', () => {
  test('is that none of the lock files is deprecated', () => {
    for (const file of ['package-lock.json', 'functions/package-lock.json']) {
      const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
      expect(deprecatedIn(JSON.parse(text))).toEqual([]);
    }
  });

  test('names a package that is deprecated', () => {
    const packages = {
      '': { version: '1.0.0' },
      'node_modules/fine': { version: '1.0.0' },
      'node_modules/fine/node_modules/@old/one': { version: '2.0.0', deprecated: 'use another' },
    };
    expect(deprecatedIn({ packages })).toEqual(['@old/one@2.0.0 is deprecated: use another']);
  });

  test('fails for high and critical advisories, tells the others', () => {
    const vulnerabilities = {
      a: { name: 'a', severity: 'critical', range: '<2', via: [{ title: 'Prototype pollution' }, 'b'] },
      b: { name: 'b', severity: 'low', range: '*', via: ['a'] },
    };
    expect(auditOf(JSON.stringify({ auditReportVersion: 2, vulnerabilities }))).toEqual({
      bad: ['a <2 (critical): Prototype pollution'],
      mild: ['b * (low)'],
    });
    expect(auditOf('{"auditReportVersion":2,"vulnerabilities":{}}')).toEqual({ bad: [], mild: [] });
  });

  test('is unknown, and no failure, when the registry does not answer', () => {
    expect(auditOf('{"message":"405 Method Not Allowed"}')).toEqual({
      unreachable: '405 Method Not Allowed',
    });
    expect(auditOf('')).toEqual({ unreachable: 'npm audit printed nothing' });
    expect(auditOf('<html>proxy</html>')).toEqual({ unreachable: '<html>proxy</html>' });
  });
});
