const TOKEN = "[!#$%&'*+.0-9A-Z^_`a-z{|}~-]+";
const MEDIA_TYPE = `(?:(?:image|text|audio|video|application|message|multipart|[xX]-${TOKEN})/${TOKEN})?`;
const PARAMETER = `;${TOKEN}=(?:${TOKEN}|"(?:[^"\\\\\\u0080-\\uffff]|\\\\[\\u0000-\\u007f])*")`;
/** What of a data URL comes before its data, as Ignition reads it (vincent-petithory/dataurl, lex.go). */
const DATA = new RegExp(`^data:${MEDIA_TYPE}(?:${PARAMETER})*(?<base64>;base64)?,`);
const BASE64 = /^[A-Za-z0-9+/=\n]*$/;
/** A blank, or what delimits URLs. Looked for one by one: contents may have megabytes. */
const DELIMITER = /[^!$&'()*+,./0-9:;=?@A-Z_a-z~%-]/;
/** Of a media type with its parameters. */
const LONGEST_HEAD = 4096;

/** Host, port and the rest of a URL, as Go parses it (net/url). */
const HIERARCHY =
  /^[a-z][a-z0-9+.-]*:\/\/(?:[\w.:~!$&'()*+,;=%@-]*@)?(?:\[[0-9A-Fa-f:.]+(?:%25[\w.~-]+)?\]|[^\s"<>{}^`|\\/?#@[\]:%]*)(?::\d*)?(?<path>(?:\/[^?#]*)?)(?:\?[^#]*)?(?<fragment>(?:#.*)?)$/i;
/** Of ASCII: others are letters to Go. */
const CONTROL = /(?![\u0080-\u009f])\p{Cc}/u;
const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/;

/** Whether Go parses a URL with a host. */
export function isHostUrl(url: string): boolean {
  const { path, fragment = '' } = HIERARCHY.exec(url)?.groups ?? {};
  if (path === undefined || CONTROL.test(url)) return false;
  return !BROKEN_ESCAPE.test(path) && !BROKEN_ESCAPE.test(fragment);
}

/** An object of S3 by its ARN: with an access point, the object is behind two slashes. */
const ARN = /^arn:[^:]*:s3:[^:]*:[^:]*:(?:accesspoint\/[^/]*\/.|(?!accesspoint\/)[^/]*\/)/;
const EMPTY_VERSION = /[?&]versionId=?(?:&|$)/;

/** Whether Ignition of spec 3.`minor`.0 can fetch from it. */
export function isFetchable(url: string, minor: number): boolean {
  const [, scheme = ''] = /^([a-z0-9+.-]+):/i.exec(url) ?? [];
  switch (scheme.toLowerCase()) {
    case 'http':
    case 'https':
    case 'tftp':
      return isHostUrl(url);
    case 'gs':
      return minor >= 2 && isHostUrl(url);
    case 's3':
      return isHostUrl(url) && !EMPTY_VERSION.test(url);
    case 'arn':
      return minor >= 4 && ARN.test(url) && !EMPTY_VERSION.test(url);
    case 'data': {
      const [head, base64] = DATA.exec(url.slice(0, LONGEST_HEAD)) ?? [];
      if (head === undefined) return false;
      const data = url.slice(head.length);
      if (base64 !== undefined) return BASE64.test(data);
      return !DELIMITER.test(data) && !BROKEN_ESCAPE.test(data);
    }
    default:
      return false;
  }
}
