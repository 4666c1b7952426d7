import { EXIT } from '../../lib/base/errors/exit-codes.ts';
import { expectBundleAfterFailure } from '../bundle/after-failure.ts';
import { Installation, type InstallationOptions, scenarioOf } from '../installation.ts';
import type { LabContext, Scenario } from '../scenario.ts';
import { bootWithDisk, expectRefusal, type Refusal } from './refusal.ts';

/** An installation that must fail on the live host with a given error. */
const refused =
  (options: InstallationOptions, refusal: Refusal): Scenario =>
  (context) => {
    const run = new Installation(context, options);
    return scenarioOf(run, [
      { title: 'Create the installation', run: () => run.create() },
      {
        title: 'Boot the live host: refused, for the stated reason',
        run: async () => expectRefusal(run, await bootWithDisk(run), refusal),
      },
      ...(refusal.finds === undefined ? [] : [explained(run, context, refusal.finds)]),
    ]);
  };

const explained = (run: Installation, context: LabContext, rules: readonly string[]) => ({
  title: 'Explained, by the log bundle of the failed unit',
  run: async () => {
    if (run.host !== undefined) await expectBundleAfterFailure(run.host, 'live', rules, context);
  },
});

/** Both can be decoded, so `sno create` accepts them; only the API server rejects them. */
export const badManifests = refused(
  {
    manifests: {
      'manifests/50-rejected.yaml':
        'apiVersion: v1\nkind: Service\nmetadata: { name: no-ports, namespace: default }\nspec: { type: ClusterIP, ports: [] }\n',
      'openshift/60-unvalued.yaml':
        'apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: { name: no-number }\nvalue: high\n',
    },
  },
  {
    exitCode: EXIT.fatal,
    says: [
      /2 of \d+ manifests could not be applied/,
      /50-rejected\.yaml.*no-ports.*rejected/,
      /60-unvalued\.yaml.*no-number.*rejected/,
    ],
    finds: ['manifest-rejected'],
  },
);

export const missingDns = refused(
  { site: { withoutRecords: ['api-int', 'apps'] }, settings: { preflightMs: 15_000 } },
  {
    exitCode: EXIT.deadline,
    says: [
      /2 of \d+ checks failed/,
      /Add a DNS record for api-int\./,
      /Add a DNS record for preflight-check\.apps\./,
    ],
    finds: ['dns-record-missing'],
  },
);

/** One byte of an image differs from what Ignition pins through payload.yaml. */
export const wrongPayload = refused(
  { served: { damaged: '/payload/images/etcd.tar' } },
  {
    exitCode: EXIT.fatal,
    says: [
      /images\/etcd\.tar is not the file that this installation was created for; expected SHA-256 [0-9a-f]{64}; found [0-9a-f]{64}/,
    ],
    finds: ['step-failed'],
  },
);

export const wrongExecutable = refused(
  { served: { damaged: '/sno-agents' } },
  {
    unit: 'sno-executable',
    exitCode: 1,
    says: [/sno-agents: FAILED/, /1 computed checksum did NOT match/],
  },
);
