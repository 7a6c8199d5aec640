/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "fake-cudart.h"

#include <pthread.h>
#include <sys/types.h>

/* One lock for everything, held during each call and each operation; one condition for everything that may be waited
 * for. The double asks for no speed, and what ThreadSanitizer sees of it are pthread calls. */

#define FAKE_MAX_DEVICES 8
#define FAKE_POISON_NEW  0xdb
#define FAKE_POISON_OLD  0xdd

typedef struct FakeStream FakeStream;
typedef struct FakeEvent  FakeEvent;
typedef struct FakeMemory FakeMemory;
typedef struct FakeOp     FakeOp;

typedef struct FakeThread
{
  pid_t              tid;
  int                device;
  int                last_error;
  int                capture_mode;
  bool               in_host_function;
  FakeStream        *stream[FAKE_MAX_DEVICES]; /* per-thread default */
  struct FakeThread *next;
} FakeThread;

typedef struct
{
  const char *function;
  bool        quiet;       /* answers without a driver, even in a child */
  bool        keeps_error; /* the last error is not its own */
  bool        unsafe;      /* not during a capture */
  CudaStream  stream;
  const void *ptr;
  const void *other;
  size_t      len;
  unsigned    flags;
  int         result;
  FakeThread *thread;
} FakeCall;

typedef enum
{
  FAKE_OP_COPY,
  FAKE_OP_KERNEL,
  FAKE_OP_WAIT,
  FAKE_OP_FREE,
  FAKE_OP_HOST_FUNCTION,
} FakeOpKind;

typedef struct
{
  FakeStream *stream;
  uint64_t    position; /* done when the stream has completed that many */
} FakePoint;

struct FakeOp
{
  FakeOpKind       kind;
  bool             ungated;
  const void      *source;
  void            *destination;
  size_t           size;
  void            *staged;   /* owned copy of a pageable source */
  uint64_t         hash;     /* of a pinned source when it was enqueued */
  bool             hashed;
  FakeMemory      *memory;   /* to be freed */
  CudaHostFunction function;
  void            *data;
  FakePoint       *points;   /* to be reached first */
  size_t           n_points;
  FakeOp          *next;
};

struct FakeStream
{
  int         device;
  bool        blocking; /* ordered with the legacy default stream */
  bool        legacy;
  bool        implicit; /* nobody created it */
  bool        destroyed;
  uint64_t    enqueued, completed;
  int         permits;  /* -1: any number */
  int         async_error;
  FakeOp     *first, *last;
  FakeStream *next;
};

struct FakeEvent
{
  int        device;
  bool       recorded, destroyed;
  FakePoint  point;
  FakeEvent *next;
};

typedef enum
{
  FAKE_MEMORY_REGISTERED,
  FAKE_MEMORY_HOST,
  FAKE_MEMORY_DEVICE,
} FakeMemoryKind;

/* A range of memory, registered or allocated. It stays in a list after its end, so that the log knows it. */
struct FakeMemory
{
  FakeMemoryKind kind;
  uint8_t       *base;
  size_t         size;
  bool           freeing;  /* a stream will free it */
  bool           reported; /* as unmapped */
  int            device;
  unsigned       flags;
  int            fd;      /* of device memory */
  uint8_t       *alias;   /* of device memory: where it can be seen */
  char           file[64]; /* of a registered range: device and inode, as the kernel says it */
  FakeMemory    *next;
};

typedef struct
{
  pthread_mutex_t lock;
  pthread_cond_t  changed;

  pid_t           pid;    /* of the process that initialised; 0: none did */
  bool            exiting;
  int             devices, driver, lost;
  bool            stub, capturing, capture_broken;
  int             attributes[FAKE_MAX_DEVICES][256];
  ArenaFakeMode   mode;
  int             milliseconds, permits, async_error, damage;
  uint64_t        pin_limit, waiting;

  FakeThread     *threads;
  FakeStream     *streams;
  FakeStream     *legacy[FAKE_MAX_DEVICES];
  FakeEvent      *events;
  FakeMemory     *memories, *ended;
} FakeState;

extern FakeState fake;

/* core: begin() takes the lock; the call is to be carried out if it returns true. */
bool        fake_begin             (FakeCall *call);
int         fake_end               (FakeCall *call);
FakeThread *fake_thread            (void);
int         fake_runtime_version   (void);

/* inject */
int         fake_inject_take       (const char *function);
void        fake_inject_clear      (void);

/* log */
void        fake_log_add           (const FakeCall *call);
void        fake_log_vm_event      (const char *operation, const void *pointer, size_t size);
void        fake_log_exit          (void);
void        fake_log_reset         (void);
void        fake_log_child         (const char *function);
void        fake_violation         (const char *format, ...) __attribute__ ((format (printf, 1, 2)));

/* memory */
FakeMemory *fake_memory_add        (FakeMemoryKind kind, void *base, size_t size);
void        fake_memory_end        (FakeMemory *memory);
/* The live one that all of the range is in, or that any of it is in. */
FakeMemory *fake_memory_covering   (const void *pointer, size_t size);
FakeMemory *fake_memory_touching   (const void *pointer, size_t size);
/* The same among device memory, where a range that isn't in one is a violation. */
FakeMemory *fake_memory_device     (const void *pointer, size_t size, const char *what);
bool        fake_memory_was_pinned (const void *pointer, size_t size);
uint64_t    fake_memory_total      (FakeMemoryKind kind, uint64_t *count);
uint64_t    fake_hash              (const void *data, size_t size);
/* Maps anew, or over what is @at. */
void       *fake_map               (int fd, void *at, size_t size, int protection);
void        fake_release_device    (FakeMemory *memory);
/* The file that lies at an address, as device and inode. */
bool        fake_find_file         (const void *pointer, char *file, size_t size, bool *writable);
/* Registered ranges must still be mapped, and to the same file. */
void        fake_audit             (void);

/* stream */
FakeStream *fake_stream_find       (CudaStream handle, int *result);
void        fake_stream_push       (FakeStream *stream, FakeOp *op);
void        fake_stream_wait       (FakePoint point);
bool        fake_point_reached     (FakePoint point);
int         fake_take_async_error  (FakeStream *stream);
/* An operation that has not finished and uses the range. */
FakeOp     *fake_user_of           (const void *pointer, size_t size);
void        fake_drain_all         (void);

/* copy: carries out, with the lock held but around a function of the host's. */
void        fake_run_op            (FakeOp *op);
