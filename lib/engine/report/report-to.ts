import { z } from 'zod';

/** The name of the file, beside install-config.yaml or site-config.yaml and on a volume. */
export const REPORT_TO = 'report-to.json';

/** Of a server that a host sends to. */
export const secureUrl = z.url({ protocol: /^https$/ }).max(2048);
export const pem = z
  .string()
  .includes('-----BEGIN ')
  .max(64 << 10);
/** Of an object of Kubernetes. */
const objectName = z.string().regex(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/);

const kind = {
  apiVersion: z.literal('sno-agents/v1'),
  kind: z.literal('ReportTo'),
} as const;

/** The API server of a hub, which has a `Site` for this node and has signed a certificate for that site alone. */
export const hubSchema = z.strictObject({
  ...kind,
  hub: z.strictObject({
    server: secureUrl,
    certificateAuthority: pem.describe('of the API server'),
    namespace: objectName,
    name: objectName.describe('of the Site'),
    uid: z.uuid().optional().describe('of the Site: another one of this name gets no report'),
    serial: z
      .int()
      .optional()
      .describe('of the Site whose installation brings this file: reports tell which one it was'),
    certificate: pem.describe('of a client, CN=sno:site:NAMESPACE:NAME, O=sno:sites'),
    key: pem,
  }),
});

/** Any server, which gets each report by POST. */
export const urlSchema = z.strictObject({
  ...kind,
  url: secureUrl,
  certificateAuthority: pem.optional().describe('instead of those that the system trusts'),
  token: z
    .string()
    .regex(/^[!-~]{1,4096}$/)
    .optional()
    .describe('sent as Authorization: Bearer'),
});

/** To whom a node reports how its installation, its site and its later changes go. It contains a key or a token. */
export const reportToSchema = z.union([hubSchema, urlSchema]);
export type ReportTo = z.infer<typeof reportToSchema>;
