import { appliesIn, type Minor, type Validity } from '../../base/minor.ts';

/**
 * What one operator of a release renders. Paths are relative to the assets (`/opt/openshift` on the
 * host, `/assets` in the container), or absolute on the host.
 */
export interface Stage extends Validity {
  /** Name in service records and messages, as in the shell flow. */
  readonly name: string;
  /** Name of the image in the release, or `release` for the release image itself. */
  readonly image: string;
  readonly user?: 'root';
  readonly environment?: Readonly<Record<string, string>>;
  /** Folders of the host that the program may change without an effect on the host. */
  readonly hostFolders?: readonly string[];
  /** The command: after the image's entry point, or the program and its arguments. */
  readonly command: readonly Argument[];
  /** Files that must exist: the installer's, or made by another stage. */
  readonly needs: readonly Need[];
  /** What other stages need of its results. */
  readonly makes: readonly Need[];
  /** Where its results belong, in this order. */
  readonly copies: readonly Copy[];
}

/**
 * An argument in some versions, or only if a file exists. In `{...}`: `release`, `version` (of the
 * release), `kubernetes` (its version), `image:NAME`.
 */
export type Argument =
  | string
  | (Validity & { readonly argument: string; readonly ifPresent?: string });

/** A file, or a folder that a stage fills. */
export type Need = string | (Validity & { readonly path: string });

interface CopyTo extends Validity {
  /** A folder's files go into a folder, a file to a file. */
  readonly to: string;
  /** Otherwise the stage must have made it. */
  readonly optional?: true;
}

/** From the stage's own results, or from what all earlier stages in the table have copied. */
export type Copy =
  | (CopyTo & { readonly from: string; readonly shared?: never })
  | (CopyTo & { readonly shared: string; readonly from?: never });

/** A stage as it is in one version. */
export interface VersionedStage
  extends Pick<Stage, 'name' | 'image' | 'user' | 'environment' | 'hostFolders' | 'copies'> {
  readonly command: readonly { readonly argument: string; readonly ifPresent?: string }[];
  readonly needs: readonly string[];
  readonly makes: readonly string[];
}

/** The stages of that version, in the order of the table. */
export function stagesIn(version: Minor, table: readonly Stage[]): VersionedStage[] {
  const applies = (validity: Validity) => appliesIn(version, validity);
  const pathsOf = (needs: readonly Need[]) =>
    needs.flatMap((need) => {
      if (typeof need === 'string') return [need];
      return applies(need) ? [need.path] : [];
    });
  return table.filter(applies).map((stage) => ({
    ...stage,
    command: stage.command.flatMap((each) => {
      if (typeof each === 'string') return [{ argument: each }];
      return applies(each) ? [each] : [];
    }),
    needs: pathsOf(stage.needs),
    makes: pathsOf(stage.makes),
    copies: stage.copies.filter(applies),
  }));
}
