import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { readGoYaml } from '../../base/go-yaml/read.ts';
import { writeGoYaml } from '../../base/go-yaml/write.ts';
import { apiPort, paths } from './paths.ts';
import { manifestFile } from './static-pod.ts';

/** Of the second API server, which serves while the first one is replaced. */
export const surgePort = 6444;
export const surgeName = 'kube-apiserver-surge';
export const surgeFile = `${surgeName}.yaml`;

/** A static pod of the control plane beside the four that are rendered. */
export interface SurgePod {
  /** Name of the pod and of its container. */
  readonly component: string;
  readonly file: string;
  readonly manifest: string;
}

const probeSchema = z.looseObject({ httpGet: z.looseObject({ port: z.literal(apiPort) }) });

const podSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string(), labels: z.record(z.string(), z.string()) }),
  spec: z.looseObject({
    containers: z.tuple([
      z.looseObject({
        name: z.string(),
        command: z.array(z.string()),
        startupProbe: probeSchema,
        livenessProbe: probeSchema,
        readinessProbe: probeSchema,
      }),
    ]),
  }),
});

/**
 * A second API server, of the same manifest, at another port. It leaves the endpoints of the Service `kubernetes` to
 * the first one (with the same address, both would write them), and writes an audit log of its own, since
 * neither program expects another one to rotate its log.
 *
 * @throws Failure (fatal) when the manifest is not that of an API server of this product.
 */
export function surgePod(manifest: string): SurgePod {
  const parsed = podSchema.safeParse(readGoYaml(manifest));
  if (!parsed.success) {
    throw new Failure('fatal', 'no second API server can be made of the manifest', {
      subject: manifestFile('kube-apiserver'),
      cause: parsed.error,
    });
  }
  const { metadata, spec, ...rest } = parsed.data;
  const [server] = spec.containers;
  const { startupProbe, livenessProbe, readinessProbe } = server;
  const labels = { ...metadata.labels, component: surgeName, 'app.kubernetes.io/name': surgeName };
  const container = {
    ...server,
    name: surgeName,
    command: surgeCommand(server.command),
    startupProbe: atSurge(startupProbe),
    livenessProbe: atSurge(livenessProbe),
    readinessProbe: atSurge(readinessProbe),
  };
  const pod = {
    ...rest,
    metadata: { ...metadata, name: surgeName, labels },
    spec: { ...spec, containers: [container] },
  };
  return { component: surgeName, file: surgeFile, manifest: writeGoYaml(pod) };
}

const atSurge = (probe: z.infer<typeof probeSchema>) => ({
  ...probe,
  httpGet: { ...probe.httpGet, port: surgePort },
});

const OWN_FLAGS: Readonly<Record<string, string>> = {
  '--secure-port': `${surgePort}`,
  '--audit-log-path': `${paths.auditLogs}/audit-surge.log`,
  '--audit-log-maxbackup': '1',
  '--endpoint-reconciler-type': 'none',
};

function surgeCommand(command: readonly string[]): string[] {
  const others = command.filter((flag) => !((flag.split('=')[0] ?? '') in OWN_FLAGS));
  return [...others, ...Object.entries(OWN_FLAGS).map(([name, value]) => `${name}=${value}`)];
}
