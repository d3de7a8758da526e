/**
 * How an installation is set up, as far as the instance that answers can tell.
 *
 * Must not: tell a secret, a part of one, or its length.
 */

export interface SeenSecret {
  readonly name: string;
  /** The deployed functions that are given it. */
  readonly functions: readonly string[];
  /** `none`: meant not to be there. `elsewhere`: the function that answers is not given it, so nobody can tell here. */
  readonly state: 'set' | 'empty' | 'none' | 'elsewhere';
}

/** A parameter whose value makes no sense. */
export interface WrongParameter {
  readonly name: string;
  readonly why: string;
}

export interface SetupLook {
  /** Id of the project. */
  readonly project: string;
  /** Whether the events of runs are published. */
  readonly publishes: boolean;
  secrets(): readonly SeenSecret[];
  wrongParameters(): readonly WrongParameter[];
}
