import { z } from 'zod';

/**
 * What is known of `clusters[].cluster` and `users[].user`, from client-go's
 * tools/clientcmd/api/v1/types.go. A field that is not listed would be ignored without a word, so it is a fault.
 */
export const clusterEntrySchema = z
  .strictObject({
    server: z.url({
      protocol: /^https$/,
      error: 'expected the address of an API server: https://…',
    }),
    'certificate-authority': z.string().optional(),
    'certificate-authority-data': z.base64().optional(),
    'insecure-skip-tls-verify': z
      .literal(false, {
        error: 'sno always verifies the API server: set certificate-authority-data instead',
      })
      .optional(),
    'tls-server-name': z.string().optional(),
    'proxy-url': z
      .url({ protocol: /^(https?|socks5h?)$/, error: 'expected http://, https:// or socks5://' })
      .optional(),
    'disable-compression': z.boolean().optional(),
    extensions: z.unknown().optional(),
  })
  .superRefine(once('certificate-authority'));

const execSchema = z.strictObject({
  apiVersion: z.enum(['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']),
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  installHint: z.string().optional(),
  provideClusterInfo: z.boolean().optional(),
  interactiveMode: z
    .enum(['Never', 'IfAvailable'], {
      error: 'sno gives a plug-in no terminal: log in with kubectl, and use a token',
    })
    .optional(),
});

const removed = (error: string) => z.undefined({ error }).optional();

export const userEntrySchema = z
  .strictObject({
    'client-certificate': z.string().optional(),
    'client-certificate-data': z.base64().optional(),
    'client-key': z.string().optional(),
    'client-key-data': z.base64().optional(),
    token: z.string().optional(),
    tokenFile: z.string().optional(),
    as: z.string().optional(),
    'as-uid': z.string().optional(),
    'as-groups': z.array(z.string()).optional(),
    'as-user-extra': z.record(z.string(), z.array(z.string())).optional(),
    exec: execSchema.optional(),
    'auth-provider': z
      .object({
        name: z.literal('oidc', {
          error: 'only oidc is known; others have become plug-ins (exec), in kubectl too',
        }),
        config: z.object({ 'id-token': z.string() }),
      })
      .optional(),
    username: removed('Kubernetes has no passwords any more: use a token or a certificate'),
    password: removed('Kubernetes has no passwords any more: use a token or a certificate'),
    extensions: z.unknown().optional(),
  })
  .superRefine(once('client-certificate', 'client-key'))
  .refine((user) => user.as !== undefined || !isActing(user), {
    error: 'as-uid, as-groups and as-user-extra need "as"',
  });

/** As kubectl does. */
function once(...names: readonly string[]) {
  return (entry: object, { addIssue }: z.RefinementCtx) => {
    for (const name of names) {
      if (!(name in entry && `${name}-data` in entry)) continue;
      addIssue({ code: 'custom', path: [name], message: `${name}-data is there too: remove one` });
    }
  };
}

function isActing(user: object): boolean {
  return ['as-uid', 'as-groups', 'as-user-extra'].some((name) => name in user);
}

export type ClusterEntry = z.infer<typeof clusterEntrySchema>;
export type UserEntry = z.infer<typeof userEntrySchema>;
export type ExecEntry = z.infer<typeof execSchema>;
