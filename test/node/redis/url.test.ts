import { describe, expect, test } from 'vitest';
import { openRedisStore } from '../../../shared/node/redis/store.ts';
import { redisPlaceOf } from '../../../shared/node/redis/url.ts';
import { value } from '../storage/records.ts';

describe('where Redis is', () => {
  const plain = { kind: 'server', socketPath: null, tls: false, username: null, password: null, database: 0 };
  const good: [string, object][] = [
    ['redis://localhost', { ...plain, nodes: [{ host: 'localhost', port: 6379 }], name: 'localhost:6379' }],
    [' redis://127.0.0.1:7000/3 ', { ...plain, nodes: [{ host: '127.0.0.1', port: 7000 }], database: 3 }],
    ['redis://[::1]:7000', { ...plain, nodes: [{ host: '::1', port: 7000 }], name: '[::1]:7000' }],
    [
      'rediss://ada:p%40ss:word@cache.example:6380',
      { ...plain, tls: true, username: 'ada', password: 'p@ss:word', name: 'cache.example:6380' },
    ],
    ['redis://:secret@h', { ...plain, username: null, password: 'secret', name: 'h:6379' }],
    ['unix:///run/redis/s', { ...plain, kind: 'socket', nodes: [], socketPath: '/run/redis/s', name: '/run/redis/s' }],
    [
      'unix:///run/redis/s?database=2',
      { ...plain, kind: 'socket', nodes: [], socketPath: '/run/redis/s', database: 2 },
    ],
    ['/run/redis/s', { ...plain, kind: 'socket', nodes: [], socketPath: '/run/redis/s' }],
    [
      'redis-cluster://u:p@a:7000,b:7001,c',
      {
        ...plain,
        kind: 'cluster',
        nodes: [
          { host: 'a', port: 7000 },
          { host: 'b', port: 7001 },
          { host: 'c', port: 6379 },
        ],
        username: 'u',
        password: 'p',
        name: 'a:7000,b:7001,c:6379',
      },
    ],
  ];
  test.each(good)('%s', (url, place) => {
    expect(value(redisPlaceOf(url))).toMatchObject(place);
  });

  const bad = [
    '',
    'localhost:6379',
    'http://localhost:6379',
    'redis://',
    'redis://host:0',
    'redis://host:65536',
    'redis://host:port',
    'redis://a,b',
    'redis://host/x',
    'redis://host:6379/0/1',
    'redis://user:%zz@host',
    'redis://ho st',
    'redis://hunter2@',
    'redis://u:hunter2@ho/st/x',
    'unix://relative/s',
    'unix:///',
    'unix:///s?database=x',
    './s',
    'redis-cluster://',
    'redis-cluster://a:7000,',
    'redis-cluster://a:7000/1',
    'redis://a\r\nb',
  ];
  test.each(bad)('%j is refused by its field, and not repeated', async (url) => {
    const opened = await openRedisStore({ url });
    expect(opened).toMatchObject({ ok: false, denial: { code: 'bad-input', field: 'redisUrl' } });
    if (opened.ok) return;
    expect(opened.denial.next).toMatch(/redis:\/\/host:6379/);
    expect(JSON.stringify(opened)).not.toContain('hunter2');
  });
});
