import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { z } from 'zod';
import { eventually, NAMESPACE, NODE, OTHER_NODE, PASSWORD, type World } from './world.ts';

const eventSchema = z.object({
  level: z.string(),
  stage: z.string(),
  verb: z.string(),
  requestURI: z.string(),
  user: z.object({ username: z.string().optional() }),
  objectRef: z
    .object({ resource: z.string().optional(), subresource: z.string().optional() })
    .optional(),
  responseStatus: z.object({ code: z.number().optional() }).optional(),
  requestObject: z.unknown().optional(),
  responseObject: z.unknown().optional(),
});
type Event = z.infer<typeof eventSchema>;

/** Run last: checks what the other tests have logged. */
export function auditLogTests(world: World): void {
  t.test('the audit log records who did what, and no secrets', async (t) => {
    const { plane, pod } = world;
    const path = join(plane.root, '/var/log/kube-apiserver/audit.log');
    const log = await readFile(path, 'utf8');
    const events = log
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => eventSchema.parse(JSON.parse(line)));
    const some = (wanted: (event: Event) => boolean) => events.some(wanted);

    t.notMatch(log, PASSWORD);
    t.notMatch(log, Buffer.from(PASSWORD).toString('base64'));
    t.notMatch(log, pod.token.split('.')[2] ?? 'no token', 'nor a token');

    const secrets = events.filter(({ objectRef }) => objectRef?.resource === 'secrets');
    const says = (verb: string, user: string, code: number) =>
      secrets.some(
        (event) =>
          event.verb === verb &&
          event.user.username === user &&
          event.responseStatus?.code === code,
      );
    t.ok(says('create', 'sno-agents:bootstrap-admin', 201), 'who made a Secret');
    t.ok(says('get', `system:serviceaccount:${NAMESPACE}:web`, 403), 'who was refused one');
    t.ok(says('get', `system:node:${OTHER_NODE}`, 403), 'which node tried that of another');
    for (const resource of ['secrets', 'serviceaccounts', 'configmaps']) {
      const found = events.filter(({ objectRef }) => objectRef?.resource === resource);
      t.ok(found.length > 0, resource);
      t.ok(
        found.every(({ level, ...event }) => level === 'Metadata' && !hasBody(event)),
        resource,
      );
    }

    t.ok(
      some(
        (event) =>
          event.objectRef?.resource === 'certificatesigningrequests' &&
          event.objectRef.subresource === 'approval' &&
          event.user.username === 'sno-agents:csr-approver' &&
          event.level === 'RequestResponse' &&
          hasBody(event),
      ),
      'who was given a certificate, with the request',
    );
    t.ok(
      some(
        (event) =>
          event.objectRef?.resource === 'clusterrolebindings' &&
          event.level === 'RequestResponse' &&
          hasBody(event),
      ),
      'who was given rights',
    );
    t.ok(
      some(({ user, verb }) => user.username === `system:node:${NODE}` && verb === 'patch'),
      'what a node changes',
    );
    for (const [what, wanted] of [
      ['health', (event: Event) => /^\/(livez|readyz|healthz)$/.test(event.requestURI)],
      ['arrivals', (event: Event) => event.stage === 'RequestReceived'],
      [
        'heartbeats',
        (event: Event) => event.objectRef?.resource === 'leases' && event.verb === 'update',
      ],
      ['events', (event: Event) => event.objectRef?.resource === 'events'],
    ] as const) {
      t.notOk(some(wanted), `no ${what}`);
    }
  });

  t.test('each controller uses its own account', async (t) => {
    const { plane } = world;
    const path = join(plane.root, '/var/log/kube-apiserver/audit.log');
    for (const name of [
      'root-ca-cert-publisher',
      'service-account-controller',
      'certificate-controller',
    ]) {
      const found = await eventually(name, async () => {
        const log = await readFile(path, 'utf8');
        return log.includes(`"system:serviceaccount:kube-system:${name}"`) ? true : undefined;
      });
      t.ok(found, name);
    }
  });
}

const hasBody = ({
  requestObject,
  responseObject,
}: Pick<Event, 'requestObject' | 'responseObject'>) =>
  requestObject !== undefined || responseObject !== undefined;
