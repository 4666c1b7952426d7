import type { Misfit } from '../../lib/config/site/nmstate/misfit.ts';
import type { DiskArguments } from './disk-variable.ts';
import type { SomeInstallFields } from './schema.ts';

/** A fault between fields, or inside an nmstate document; `found` defaults to the value itself. */
export type Refinement = Misfit;

export interface Config {
  /** The fields in which the schema finds no fault. */
  sound: SomeInstallFields;
  /** Whether the file has the field, valid or not; an empty list counts as omitted. */
  isGiven(path: readonly (string | number)[]): boolean;
  /** Whether the host that boots with the result writes a disk. */
  writesDisk: boolean;
  /** Undefined if the variable is invalid. */
  variable: DiskArguments | undefined;
}
