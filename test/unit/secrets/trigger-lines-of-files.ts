import { SECRET } from './trigger-lines.ts';

/** Lines of particular files and programs, in which only one trigger leads to the secret. */
export const FILE_LINES: readonly string[] = [
  // Assignments.
  `  pw = ${SECRET}`,
  `db_pw = ${SECRET}`,
  `db_pw  ${SECRET}`,
  `{ pw = "${SECRET}" }`,
  `[certs] Using certificate key:\n${SECRET}`,
  `--activationkey=${SECRET}`,
  `activation_key=${SECRET}`,
  `--activation-key ${SECRET}`,
  `code_verifier=${SECRET}`,
  `code-verifier=${SECRET}`,
  `codeVerifier=${SECRET}`,
  `userKey:${SECRET}`,
  `user_key:${SECRET}`,
  `adminKey:${SECRET}`,
  `admin_key:${SECRET}`,
  `APP_KEY=${SECRET}`,
  `appKey=${SECRET}`,
  `routing_key: ${SECRET}`,
  `--routing-key ${SECRET}`,
  `routingKey=${SECRET}`,
  `service_key: ${SECRET}`,
  `serviceKey=${SECRET}`,
  `integration_key: ${SECRET}`,
  `integrationKey=${SECRET}`,
  `jwt_key: ${SECRET}`,
  `jwtKey: ${SECRET}`,
  `signing_key: ${SECRET}`,
  `--signing-key ${SECRET}`,
  `signingKey: ${SECRET}`,
  `Authorization Splunk ${SECRET}`,
  ...[
    'mongodb://me',
    'postgres://me',
    'mysql://me',
    'mariadb://me',
    'redis://',
    'rediss://',
    'amqp://me',
  ].map((begin) => `${begin}:a/${SECRET}@b@host/x`),
  // Lines below.
  // Tokens.
  `tailscale up --key tskey-auth-${SECRET}`,
  ...['sendgrid', 'smtp', 'authorization'].map(
    (name) => `${name} sent SG.${SECRET}.${SECRET}${SECRET}`,
  ),
  `https://${SECRET}:x-oauth-basic@host/path`,
  // Files.
  ...['SHA', 'SSHA', 'SHA256', 'SHA512', 'SSHA256', 'SSHA512', 'MD5', 'SMD5'].map(
    (kind) => `me:{${kind}}${SECRET}AAAA=`,
  ),
  `jdbc:oracle:thin:me/${SECRET}@//host`,
  `;password={correcthorse ; x};`,
  `;pwd={correcthorse ; x};`,
  `the one-time password ${SECRET} expires`,
];
