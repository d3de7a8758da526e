/** The prefix of an installation's collections. */
import { PREFIX_OF_THE_MODEL } from '../../store/layout/collections.ts';
import { collectionPrefix } from './parameters.ts';

/**
 * Two installations must not share collections, so the default prefix is derived from the installation's deployed name.
 *
 * @param drive the deployed name of the function `drive`
 */
export function collectionPrefixOf(given: string | undefined, drive: string): string {
  const prefix = given ?? collectionPrefix.value();
  if (prefix !== '') return prefix;
  if (drive === 'drive') return PREFIX_OF_THE_MODEL;
  return `${drive
    .replace(/-drive$/, '')
    .toLowerCase()
    .replaceAll('-', '_')}_`;
}
