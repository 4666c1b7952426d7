import { z } from 'zod';
import { failureDataSchema } from '../../base/errors/failure-data.ts';
import { recordPath } from '../../engine/agents/records.ts';
import type { HostPaths } from '../../host/paths.ts';
import { stateFile } from '../../host/state-file.ts';

type State = Pick<HostPaths, 'state'>;

/** Which run of which Site of a hub asks for an update. */
const asker = {
  schemaVersion: z.literal(1),
  /** The uid of the Site, or its name. */
  site: z.string(),
  /** Of the Site. */
  serial: z.int(),
};

const wantedSchema = z.object({
  ...asker,
  /** Where the update is. */
  url: z.string(),
  /** Its serial: no other one is taken from there. */
  update: z.int(),
});

/** An update that a hub asks for. It is signed by those whom this host trusts, or it is refused: the hub only names it. */
export type WantedUpdate = z.infer<typeof wantedSchema>;

const askedSchema = z.object({
  ...asker,
  at: z.iso.datetime(),
  /** `waiting`: something is in the way that may pass; `present`: the host ran it already. */
  outcome: z.enum(['accepted', 'waiting', 'refused', 'present']),
  failure: failureDataSchema.optional(),
});

/** What became last of a wanted update, before it was a request. */
export type AskedUpdate = z.infer<typeof askedSchema>;

const options = { damaged: 'none', folderMode: 0o700 } as const;
const wantedFile = (paths: State) =>
  stateFile(recordPath(paths, 'update-wanted'), wantedSchema, options);
const askedFile = (paths: State) =>
  stateFile(recordPath(paths, 'update-asked'), askedSchema, options);

export const readWanted = (paths: State): Promise<WantedUpdate | undefined> =>
  wantedFile(paths).read();

/** Has `sno-update` take it up: its path unit looks at this file, also if it is there already. */
export const writeWanted = (paths: State, wanted: WantedUpdate): Promise<void> =>
  wantedFile(paths).write(wanted);

export const readAsked = (paths: State): Promise<AskedUpdate | undefined> =>
  askedFile(paths).read();

export const writeAsked = (paths: State, asked: AskedUpdate): Promise<void> =>
  askedFile(paths).write(asked);

/** It is not taken up again; a damaged file is removed as well. */
export const removeWanted = async (paths: State): Promise<void> =>
  void (await wantedFile(paths).remove());

type Asker = Pick<WantedUpdate, 'site' | 'serial'>;

/** Whether this run of the Site, or a later one, was decided on: nothing is done twice for it. */
export const isDecided = (asked: AskedUpdate | undefined, { site, serial }: Asker): boolean =>
  asked?.site === site && asked.serial >= serial && asked.outcome !== 'waiting';
