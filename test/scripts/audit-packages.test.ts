import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

// Plain JS, since it runs before anything is installed.
const url = new URL('../../scripts/audit-packages.mjs', import.meta.url);
const { deprecatedIn, missingIn, auditOf } = (await import(url.href)) as {
  deprecatedIn(lock: object): string[];
  missingIn(lock: object): string[];
  auditOf(text: string): { unreachable?: string; bad?: string[]; mild?: string[] };
};

describe("the registry's answer about the packages", () => {
  test('has no deprecated package of a lock file', () => {
    for (const file of ['package-lock.json', 'functions/package-lock.json']) {
      const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
      expect(deprecatedIn(JSON.parse(text))).toEqual([]);
    }
  });

  test('has them for every platform, so that npm ci installs them', () => {
    for (const file of ['package-lock.json', 'functions/package-lock.json']) {
      const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
      expect(missingIn(JSON.parse(text))).toEqual([]);
    }
  });

  test('reports an optional package that is neither beside its user nor above it', () => {
    const optionalDependencies = { here: '1.0.0', above: '2.0.0', '@far/gone': '3.0.0', aside: '4.0.0' };
    const packages = {
      '': { optionalDependencies: { gone: '5.0.0' } },
      'node_modules/a': {},
      'node_modules/a/node_modules/b': { optionalDependencies },
      'node_modules/a/node_modules/b/node_modules/here': {},
      'node_modules/above': {},
      'node_modules/c/node_modules/aside': {},
    };
    expect(missingIn({ packages })).toEqual([
      'gone@5.0.0, which the root may need, is not in the lock file',
      '@far/gone@3.0.0, which b may need, is not in the lock file',
      'aside@4.0.0, which b may need, is not in the lock file',
    ]);
  });

  test('reports a deprecated package', () => {
    const packages = {
      '': { version: '1.0.0' },
      'node_modules/fine': { version: '1.0.0' },
      'node_modules/fine/node_modules/@old/one': { version: '2.0.0', deprecated: 'use another' },
    };
    expect(deprecatedIn({ packages })).toEqual(['@old/one@2.0.0 is deprecated: use another']);
  });

  test('fails for high and critical advisories, and reports the others', () => {
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

  test('is unknown, without a failure, when the registry does not respond', () => {
    expect(auditOf('{"message":"405 Method Not Allowed"}')).toEqual({
      unreachable: '405 Method Not Allowed',
    });
    expect(auditOf('')).toEqual({ unreachable: 'npm audit printed nothing' });
    expect(auditOf('<html>proxy</html>')).toEqual({ unreachable: '<html>proxy</html>' });
  });
});
