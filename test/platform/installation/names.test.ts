import { describe, expect, test } from '@jest/globals';
import {
  exportsOf,
  functionNames,
  instancePrefix,
} from '../../../packages/cairn/src/platform/installation/exported-names.ts';
import { collectionPrefixOf } from '../../../packages/cairn/src/platform/settings/collection-prefix.ts';

const drive = () => {};
const driveAlone = () => {};
const builds = () => {};
const members = { drive, driveAlone, 'pubsub.builds': builds };

describe('the names of the functions', () => {
  test.each([
    [
      'by their own names',
      { drive, driveAlone, pubsub: { builds } },
      ['drive', 'driveAlone', 'pubsub-builds'],
    ],
    [
      'in a group',
      { cairn: { drive, driveAlone, pubsub: { builds } } },
      ['cairn-drive', 'cairn-driveAlone', 'cairn-pubsub-builds'],
    ],
    [
      'in a group of a group, beside others',
      { other: () => {}, shop: { cairn: { drive, driveAlone, pubsub: { builds } } } },
      ['shop-cairn-drive', 'shop-cairn-driveAlone', 'shop-cairn-pubsub-builds'],
    ],
    [
      'under other names',
      { move: drive, moveAlone: driveAlone, messages: builds },
      ['move', 'moveAlone', 'messages'],
    ],
  ])('are those of their exports %s', (_how, module, [first, second, third]) => {
    const names = functionNames(members, module, { service: 'cairn-local', target: undefined });
    expect(names).toEqual({ drive: first, driveAlone: second, 'pubsub.builds': third });
  });

  test('begin with the prefix that the deployment gives all functions of the codebase', () => {
    const running = { service: 'europe-cairn-drivealone', target: 'cairn.driveAlone' };
    const module = { cairn: { drive, driveAlone } };
    expect(functionNames(members, module, running)).toEqual({
      drive: 'europe-cairn-drive',
      driveAlone: 'europe-cairn-driveAlone',
    });
    // Another function of the codebase gives the same prefix.
    const theirs = { service: 'europe-place-order', target: 'place_order' };
    expect(functionNames(members, module, theirs).drive).toBe('europe-cairn-drive');
  });

  test('begin with the prefix from the local cloud, where one process serves the whole codebase', () => {
    const running = { service: 'cairn-local', target: undefined, prefix: 'kit-calls-' };
    expect(functionNames(members, { drive }, running)).toEqual({ drive: 'kit-calls-drive' });
  });

  test('are derived from the running function where the exports cannot be read', () => {
    const running = { service: 'cairn-drive', target: 'cairn.drive' };
    expect(functionNames(members, undefined, running)).toMatchObject({ driveAlone: 'cairn-driveAlone' });
    const theirs = { service: 'placeorder', target: 'placeOrder' };
    expect(functionNames(members, undefined, theirs)).toMatchObject({ driveAlone: 'driveAlone' });
  });

  test('omit what is not exported', () => {
    expect(functionNames(members, { drive }, { service: undefined, target: undefined })).toEqual({
      drive: 'drive',
    });
  });

  test('are found in exports that contain themselves', () => {
    const module: Record<string, unknown> = { cairn: { drive } };
    module.self = module;
    expect(exportsOf(module, new Set([drive])).get(drive)).toBe('cairn-drive');
  });
});

test.each([
  ['drive', 'drive', ''],
  ['drivealone', 'driveAlone', ''],
  ['cairn-drive', 'cairn.drive', ''],
  ['shop-cairn-drive', 'cairn.drive', 'shop-'],
  ['eu-shop-drive', 'drive', 'eu-shop-'],
  ['cairn-local', undefined, ''],
  [undefined, 'drive', ''],
  ['overdrive', 'drive', ''],
])('the service %j with the entry point %j has the prefix %j', (service, target, prefix) => {
  expect(instancePrefix({ service, target })).toBe(prefix);
});

test.each([
  [undefined, 'drive', 'gwi_'],
  [undefined, 'cairn-drive', 'cairn_'],
  [undefined, 'shop-cairn-drive', 'shop_cairn_'],
  [undefined, 'move', 'move_'],
  ['own_', 'cairn-drive', 'own_'],
])('with the prefix %j collections of the installation of %j begin with %j', (given, name, prefix) => {
  expect(collectionPrefixOf(given, name)).toBe(prefix);
});
