import type { Test } from 'tap';
import { signedRights } from '../../../../agents/steps/host-context.ts';
import { type UpdateContext, updateContextOf } from '../../../../agents/upkeep/update/context.ts';
import type { ChangeStep } from '../../../../lib/change/or-back.ts';
import { type UpdateRequest, updateChange } from '../../../../lib/change/update/request.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import type { ApiAnswer } from '../host/api.ts';
import { signedApi, type WritableEndpoints } from '../host/approver.ts';
import { type HostOptions, type TestHost, testHost } from '../host/host.ts';
import { writePayload } from '../host/payload.ts';

export const ID = '0b6f7d0e-50a8-4d5f-8f43-0c8a35c2a333';
export const EXECUTABLE = '/var/lib/sno-agents/bin/sno-agents';
export const PAYLOAD = '/var/lib/sno-agents/payload';
export const SOURCE = '/mnt/update';
export const STATE = '/var/lib/sno-agents/sno-update';
export const TRIAL = '/var/lib/sno-agents/sno-trial/trial.json';
export const SCHEDULER = '/etc/kubernetes/manifests/kube-scheduler.yaml';
export const NEW_UNIT = '/etc/systemd/system/sno-new.service';

export const PREPARED = {
  schemaVersion: 1,
  version: '1.2.3',
  files: [
    { path: SCHEDULER, contents: 'the new scheduler', mode: 0o600 },
    { path: NEW_UNIT, contents: 'a new unit', mode: 0o644 },
  ],
  enable: ['sno-new.service'],
  links: [{ path: '/usr/local/bin/sno-new', target: EXECUTABLE }],
  manifests: [],
};

/** What changes an add-on, and with it the database. */
export const PREPARED_ADD_ON = {
  ...PREPARED,
  manifests: [{ name: 'coredns.yaml', contents: 'apiVersion: v1\nkind: ConfigMap\n' }],
};

/** Backups of before the request, and of after it: the update's own. */
export const BACKUPS = '/var/lib/sno-agents/backups';
export const EARLIER_BACKUP = '20300101T030405Z';
export const OWN_BACKUP = '20300102T030405Z';

/** A program that answers as the new executable does, if it is told where it and the new payload are. */
export const program = (prepared: object = PREPARED, version = '1.2.3') => `#!/bin/sh
case "$*" in
--version) echo '${version}' ;;
"sno-update prepare --payload "*" --executable $0") grep -q new "$4/bin/kubelet" || exit 96; printf '%s\\n' '${JSON.stringify(prepared)}' ;;
*) exit 97 ;;
esac
`;

/** A host with an update in a folder, whose request was accepted. */
export async function updating(
  t: Test,
  {
    text = program(),
    readyz = () => ({}),
    answers = {},
    ...options
  }: HostOptions & {
    text?: string;
    readyz?: ApiAnswer;
    answers?: Readonly<Record<string, ApiAnswer>>;
  } = {},
) {
  const endpoints: WritableEndpoints = {};
  const host = testHost(t, { ...options, endpoints });
  host.programs.give('systemctl', 'exit 0');
  await signedApi(t, host, endpoints, { 'GET /readyz': readyz, ...answers });
  host.write(EXECUTABLE, 'the old executable', 0o755);
  host.write(SCHEDULER, 'the old scheduler', 0o600);
  host.write('/usr/local/bin/sno-agents');
  writePayload(host, PAYLOAD, 'the old kubelet');
  host.write(`${SOURCE}/sno-agents`, text, 0o755);
  const payload = writePayload(host, `${SOURCE}/payload`, 'the new kubelet');
  const versions = { kubernetes: 'v1.34.5', etcd: 'v3.6.8' };
  const request = await requested(host, { text, payload, versions });
  const rights = signedRights(host.context);
  const context = updateContextOf({ ...host.context, ...rights }, request, []);
  const run = (step: ChangeStep<UpdateContext>) => step.run(context, host.progress());
  const holds = (step: ChangeStep<UpdateContext>) => step.holds(context, host.progress());
  return { host, context, run, holds };
}

/** An update in a folder of the host, as it was accepted: `text` is its executable, `payload` the digest of its payload. */
export async function requested(
  host: TestHost,
  {
    text,
    payload,
    versions,
    before,
  }: {
    text: string;
    payload: string;
    versions: UpdateRequest['manifest']['payload']['versions'];
    before?: UpdateRequest['before'];
  },
): Promise<UpdateRequest> {
  await updateChange.write(host.paths, {
    schemaVersion: 1,
    id: ID,
    at: '2030-01-02T00:00:00.000Z',
    from: host.at(SOURCE),
    before,
    manifest: {
      apiVersion: 'sno-agents/v1',
      kind: 'Update',
      serial: 7,
      architecture: 'amd64',
      executable: { version: '1.2.3', size: text.length, sha256: sha256(text) },
      payload: { versions, size: 100, sha256: payload },
    },
    signedBy: 'SHA256:x',
  });
  const request = await updateChange.read(host.paths);
  if (request === undefined) throw new Error('no request');
  return request;
}
