import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { isRecord } from '../../../lib/base/json.ts';
import { backupList } from '../../../lib/change/backup/store.ts';
import { deferredFolder } from '../../../lib/cluster/deferred/manifests.ts';
import {
  RESTORE_FOLDER,
  SNAPSHOT_RECORD_FILE,
} from '../../../lib/cluster/installation/snapshot-record.ts';
import { agentRecords } from '../../../lib/engine/agents/records.ts';
import { exists } from '../../../lib/host/files.ts';
import { type GatherHost, own } from '../gather-host.ts';
import type { Source, SourceGroup } from '../source.ts';
import { file, filesBelow, folder } from './file.ts';
import { listing } from './listing.ts';
import { madeJson } from './made.ts';
import { present } from './present.ts';
import { releaseImageRecord } from './release-image.ts';

const json = { format: 'json' } as const;

/** What the agents keep: step journals, states, service records, configuration. */
export const agents: SourceGroup = {
  name: 'agents',
  deadlineMs: 5000,
  async list(host) {
    const { state, run, config, serviceRecords, medium, payload, assets } = host.paths;
    const at = (name: string) => own(host, name);
    const clusterFile = join(config, 'cluster.json');
    return [
      ...(await perAgent(state, 'journal.jsonl', (agent) => at(`steps/${agent}.jsonl`))),
      ...(await perAgent(run, 'status.json', (agent) => at(`agents/status/${agent}.json`))),
      // Copied to the disk by the live stage.
      ...(await folder(at('steps/live'), join(state, 'live'), {
        ...json,
        wanted: /^\w[\w.-]*\.jsonl$/,
      })),
      ...(await folder(at('services'), serviceRecords, { ...json, wanted: /^\w[\w.@-]*\.json$/ })),
      ...(await releaseImageRecord(host)),
      ...((await exists(clusterFile)) ? [madeJson(at('agents/cluster.json'), cluster)] : []),
      ...((await exists(host.paths.record)) ? [madeJson(at('agents/backups.json'), backups)] : []),
      ...(await present([
        file(at('agents/record.json'), join(state, 'record.json'), json),
        file(at('agents/installation.json'), join(state, 'installation.json'), json),
        ...agentRecords(host.paths).map(({ name, path }) =>
          file(at(`agents/${name}.json`), path, json),
        ),
        file(at('agents/settings.json'), join(config, 'settings.json'), json),
        file(at('agents/leftovers.json'), join(config, 'leftovers.json'), json),
        file(at('agents/cluster-id.txt'), join(config, 'cluster-id')),
        file(at('agents/snapshot.json'), join(state, RESTORE_FOLDER, SNAPSHOT_RECORD_FILE), json),
        file(at('agents/live-snapshot.json'), join(assets, SNAPSHOT_RECORD_FILE), json),
        file(at('agents/payload.yaml'), join(payload, 'payload.yaml')),
        file(at('agents/medium-payload.yaml'), join(medium, 'payload.yaml')),
        listing(at('agents/state.txt'), state, 'tree'),
        // Names only of manifests that wait for their kind: one may be a Secret.
        listing(at('agents/deferred.txt'), deferredFolder(host.paths)),
      ])),
    ];
  },
};

const backups = ({ paths }: GatherHost) => backupList(paths);

/** One source for the file of each agent that has its own folder. */
async function perAgent(
  place: string,
  name: string,
  pathOf: (agent: string) => string,
): Promise<Source[]> {
  const files = await filesBelow(place, { depth: 2, entries: 500 });
  return files
    .filter((path) => basename(path) === name && /^[\w.-]+\/[^/]+$/.test(path))
    .map((path) => file(pathOf(dirname(path)), join(place, path), json));
}

/** Fields of cluster.json without credentials; keys, pull secret and network secrets are in none of them. */
const SAFE_FIELDS = new Set([
  ...['apiVersion', 'clusterId', 'controlPlane', 'name', 'baseDomain', 'hostname', 'installation'],
  ...['machineNetwork', 'clusterNetwork', 'serviceNetwork', 'proxy', 'additionalTrustBundle'],
  ...['executableSha256', 'payloadSha256', 'payloadUrl', 'machineConfigServerUrl'],
  ...['imageMirrors', 'additionalNtpSources', 'preflightWarnings', 'openshift'],
  ...['inPlace', 'apiNames'],
]);

async function cluster({ paths }: GatherHost): Promise<unknown> {
  const place = join(paths.config, 'cluster.json');
  try {
    return withoutCredentials(JSON.parse(await readFile(place, 'utf8')));
  } catch (cause) {
    // Without the parser's message, which quotes the file.
    throw new Failure(
      'fatal',
      `${place} is not JSON`,
      cause instanceof SyntaxError ? {} : { cause },
    );
  }
}

/** The fields known to be harmless, URLs without user info and queries, and the names of omitted fields. */
export function withoutCredentials(document: unknown): unknown {
  if (!isRecord(document)) return {};
  const fields = Object.entries(document);
  const leftOut = fields.map(([name]) => name).filter((name) => !SAFE_FIELDS.has(name));
  const kept = fields
    .filter(([name]) => SAFE_FIELDS.has(name))
    .map(([name, value]) => [name, withoutUsers(value)]);
  return { ...Object.fromEntries(kept), leftOut };
}

function withoutUsers(value: unknown): unknown {
  if (typeof value === 'string') {
    return value
      .replaceAll(/:\/\/\S*@/g, '://<redacted>@')
      .replace(/^(https?:[^?]*\?).*/s, '$1<redacted>');
  }
  if (Array.isArray(value)) return value.map(withoutUsers);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, withoutUsers(item)]),
  );
}
