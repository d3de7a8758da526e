/**
 * The part of the run's input that a step sees: all, or the members in `reads`. A step cannot see others, so that a
 * successor with a different input can reuse steps that read only unchanged members.
 */
import { sha256Hex } from '../core/encoding/hash.ts';
import { canonicalJson, type Json } from '../core/encoding/json.ts';
import type { StepDefinition } from './define/steps.ts';

type Reader = Pick<StepDefinition, 'id' | 'reads'>;

/** Frozen. Reading a member that is not declared throws: an undefined that surprises would be worse. */
export function inputSeenBy({ id, reads }: Reader, input: unknown): unknown {
  if (reads === undefined || !isObject(input)) return input;
  const own = Object.freeze(picked(reads, input));
  return new Proxy(own, {
    get(target, name, receiver) {
      if (typeof name === 'string' && !Object.hasOwn(own, name) && Object.hasOwn(input, name)) {
        throw new Error(`step '${id}' does not list '${name}' in 'reads'`);
      }
      return Reflect.get(target, name, receiver);
    },
  });
}

/** Input hash for the fingerprint of a step's inputs. */
export function inputHashSeenBy({ reads }: Reader, input: unknown, inputHash: string): string {
  return reads === undefined || !isObject(input)
    ? inputHash
    : sha256Hex(canonicalJson(picked(reads, input) as Json));
}

type InputMembers = Readonly<Record<string, unknown>>;

function picked(reads: readonly string[], input: InputMembers): InputMembers {
  return Object.fromEntries(
    reads.filter((name) => Object.hasOwn(input, name)).map((name) => [name, input[name]]),
  );
}

function isObject(input: unknown): input is InputMembers {
  return typeof input === 'object' && input !== null && !Array.isArray(input);
}
