/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-cuda-context-private.h"

#include "base/arena-error.h"
#include "cuda/arena-cuda-retire-private.h"
#include "memory/arena-pin-table-private.h"

#include <pthread.h>

/* One for each device of the process, made when it is asked for and never freed, so that whoever pins or copies may keep it
 * without a thought. No call of CUDA is made with the lock held: two threads may make the same context, and the second one
 * finds that and takes the first's. */

/**
 * ArenaCudaContext:
 *
 * A CUDA device as this process uses it.
 *
 * Nothing in this library touches CUDA until a consumer opens an arena with pinned memory, or until a context is asked
 * for: then the runtime library is opened (`ARENA_CUDART` may name it) and the driver initialised. From then on no
 * forked child of this process can use CUDA, whatever library it does so by; start processes by spawning them.
 *
 * There is one for each device, which lives as long as the process. The device for a process that is one of several on
 * a machine is what the environment variable `LOCAL_RANK` says, else 0. Calls leave the calling thread's current device,
 * its last error and other threads' graph captures as they were. Giving a thread its current device back makes CUDA create
 * a context there, which costs memory: where this device isn't 0, make it current in the thread yourself, before.
 *
 * All of it may be used from any thread.
 *
 * ```c
 * ArenaCudaContext *context = arena_cuda_context_get_default (&error);
 *
 * if (context != NULL)
 *   g_print ("%" G_GUINT64_FORMAT " bytes pinned\n", arena_cuda_context_get_pinned_bytes (context));
 * ```
 *
 * Since: 0.1
 */

enum
{
  PROP_DEVICE = 1,
  PROP_RUNTIME_VERSION,
  PROP_DRIVER_VERSION,
  PROP_LIBRARY_PATH,
  PROP_PAGE_LOCKS,
  PROP_PINNED_BYTES,
  PROP_N_REGISTRATIONS,
  PROP_QUARANTINED_BYTES,
  PROP_N_QUARANTINED,
  PROP_CONSUMER_STREAM,
  N_PROPERTIES,
};

#define PROPERTY_FLAGS (G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)

static GParamSpec *properties[N_PROPERTIES];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* over contexts */
static GPtrArray *contexts;

G_DEFINE_FINAL_TYPE (ArenaCudaContext, arena_cuda_context, G_TYPE_OBJECT)

static void
arena_cuda_context_get_property (GObject    *object,
                                 guint       property_id,
                                 GValue     *value,
                                 GParamSpec *pspec)
{
  ArenaCudaContext *self = ARENA_CUDA_CONTEXT (object);

  switch (property_id)
    {
    case PROP_DEVICE:
      g_value_set_int (value, arena_cuda_context_get_device (self));
      break;
    case PROP_RUNTIME_VERSION:
      g_value_set_uint (value, arena_cuda_context_get_runtime_version (self));
      break;
    case PROP_DRIVER_VERSION:
      g_value_set_uint (value, arena_cuda_context_get_driver_version (self));
      break;
    case PROP_LIBRARY_PATH:
      g_value_set_string (value, arena_cuda_context_get_library_path (self));
      break;
    case PROP_PAGE_LOCKS:
      g_value_set_boolean (value, arena_cuda_context_get_page_locks (self));
      break;
    case PROP_PINNED_BYTES:
      g_value_set_uint64 (value, arena_cuda_context_get_pinned_bytes (self));
      break;
    case PROP_N_REGISTRATIONS:
      g_value_set_uint (value, arena_cuda_context_get_n_registrations (self));
      break;
    case PROP_QUARANTINED_BYTES:
      g_value_set_uint64 (value, arena_cuda_context_get_quarantined_bytes (self));
      break;
    case PROP_N_QUARANTINED:
      g_value_set_uint (value, arena_cuda_context_get_n_quarantined (self));
      break;
    case PROP_CONSUMER_STREAM:
      g_value_set_uint64 (value, arena_cuda_context_get_consumer_stream (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

static void
arena_cuda_context_set_property (GObject      *object,
                                 guint         property_id,
                                 const GValue *value,
                                 GParamSpec   *pspec)
{
  if (property_id == PROP_CONSUMER_STREAM)
    arena_cuda_context_set_consumer_stream (ARENA_CUDA_CONTEXT (object), g_value_get_uint64 (value));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
}

static void
install_constants (void)
{
  /**
   * ArenaCudaContext:device: (getter get_device)
   *
   * The device's number, as CUDA counts those that are visible; -1 for an object that was constructed by hand.
   *
   * Since: 0.1
   */
  properties[PROP_DEVICE] = g_param_spec_int ("device", NULL, NULL, -1, G_MAXINT, -1, PROPERTY_FLAGS);

  /**
   * ArenaCudaContext:runtime-version: (getter get_runtime_version)
   *
   * The version of the runtime library, as CUDA counts: 13000 is 13.0.
   *
   * Since: 0.1
   */
  properties[PROP_RUNTIME_VERSION] =
    g_param_spec_uint ("runtime-version", NULL, NULL, 0, G_MAXUINT, 0, PROPERTY_FLAGS);

  /**
   * ArenaCudaContext:driver-version: (getter get_driver_version)
   *
   * The version of CUDA that the driver is for, counted as the runtime's.
   *
   * Since: 0.1
   */
  properties[PROP_DRIVER_VERSION] =
    g_param_spec_uint ("driver-version", NULL, NULL, 0, G_MAXUINT, 0, PROPERTY_FLAGS);

  /**
   * ArenaCudaContext:library-path: (getter get_library_path)
   *
   * Which runtime library is used.
   *
   * Since: 0.1
   */
  properties[PROP_LIBRARY_PATH] = g_param_spec_string ("library-path", NULL, NULL, NULL, PROPERTY_FLAGS);

  /**
   * ArenaCudaContext:page-locks: (getter get_page_locks)
   *
   * Whether pinning locks pages in memory.
   *
   * A device that uses the host's page tables reads any memory, and pinning only brings it in.
   *
   * Since: 0.1
   */
  properties[PROP_PAGE_LOCKS] = g_param_spec_boolean ("page-locks", NULL, NULL, FALSE, PROPERTY_FLAGS);
}

static void
install_counts (void)
{
  /**
   * ArenaCudaContext:pinned-bytes: (getter get_pinned_bytes)
   *
   * How many bytes this library has pinned in this process, for whatever device. It is not notified.
   *
   * Since: 0.1
   */
  properties[PROP_PINNED_BYTES] =
    g_param_spec_uint64 ("pinned-bytes", NULL, NULL, 0, G_MAXUINT64, 0, PROPERTY_FLAGS);

  /**
   * ArenaCudaContext:n-registrations: (getter get_n_registrations)
   *
   * How many ranges those bytes are in. It is not notified.
   *
   * Since: 0.1
   */
  properties[PROP_N_REGISTRATIONS] =
    g_param_spec_uint ("n-registrations", NULL, NULL, 0, G_MAXUINT, 0, PROPERTY_FLAGS);

  /**
   * ArenaCudaContext:quarantined-bytes: (getter get_quarantined_bytes)
   *
   * How many bytes can't be given back as long as CUDA refuses to let go of them. It is not notified.
   *
   * Since: 0.1
   */
  properties[PROP_QUARANTINED_BYTES] =
    g_param_spec_uint64 ("quarantined-bytes", NULL, NULL, 0, G_MAXUINT64, 0, PROPERTY_FLAGS);

  /**
   * ArenaCudaContext:n-quarantined: (getter get_n_quarantined)
   *
   * How many things those bytes belong to. It is not notified.
   *
   * Since: 0.1
   */
  properties[PROP_N_QUARANTINED] = g_param_spec_uint ("n-quarantined", NULL, NULL, 0, G_MAXUINT, 0, PROPERTY_FLAGS);
}

static void
arena_cuda_context_class_init (ArenaCudaContextClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = arena_cuda_context_get_property;
  object_class->set_property = arena_cuda_context_set_property;
  install_constants ();
  install_counts ();

  /**
   * ArenaCudaContext:consumer-stream: (getter get_consumer_stream) (setter set_consumer_stream)
   *
   * The stream, as a number, that uses what transfers return: it is recorded for each buffer. 1, the legacy default stream,
   * unless set; it is not notified.
   *
   * Since: 0.1
   */
  properties[PROP_CONSUMER_STREAM] =
    g_param_spec_uint64 ("consumer-stream", NULL, NULL, 0, G_MAXUINT64, 1,
                         G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);

  g_object_class_install_properties (object_class, N_PROPERTIES, properties);
}

static void
arena_cuda_context_init (ArenaCudaContext *self)
{
  self->device = -1;
  self->consumer_stream = 1;
}

/**
 * arena_cuda_context_is_supported:
 *
 * Gets whether there is a CUDA runtime library that can be used, and a driver for it.
 *
 * It opens the library and initialises nothing: the process may still fork. Whether there is a device is not known.
 * May be called from any thread.
 *
 * Returns: `TRUE` if it is worth while to ask for a context
 *
 * Since: 0.1
 */
gboolean
arena_cuda_context_is_supported (void)
{
  return arena_cuda_runtime_check_fork (NULL) && arena_cuda_runtime_open (NULL) != NULL;
}

static ArenaCudaContext *
lookup_locked (int device)
{
  for (guint i = 0; contexts != NULL && i < contexts->len; i++)
    {
      ArenaCudaContext *context = g_ptr_array_index (contexts, i);

      if (context->device == device)
        return context;
    }

  return NULL;
}

static ArenaCudaContext *
lookup (int device)
{
  ArenaCudaContext *context;

  pthread_mutex_lock (&mutex);
  context = lookup_locked (device);
  pthread_mutex_unlock (&mutex);
  return context;
}

/* The context of that device that everyone has; takes @context over. */
static ArenaCudaContext *
publish (ArenaCudaContext *context)
{
  ArenaCudaContext *first;

  pthread_mutex_lock (&mutex);
  first = lookup_locked (context->device);
  if (first == NULL)
    {
      if (contexts == NULL)
        contexts = g_ptr_array_new ();
      g_ptr_array_add (contexts, context);
    }
  pthread_mutex_unlock (&mutex);

  if (first == NULL)
    return context;

  g_object_unref (context);
  return first;
}

/* An attribute that this version doesn't know is one that the device hasn't. */
static gboolean
has_attribute (ArenaCudaScope *scope,
               int             device,
               int             attribute)
{
  int value = 0;

  return arena_cuda_call (scope, ARENA_CUDA_ERROR_NOT_SUPPORTED, NULL, "an attribute",
                          cudaDeviceGetAttribute, (&value, attribute, device)) && value != 0;
}

static ArenaCudaContext *
make_context (ArenaCudaScope *scope,
              int             device)
{
  ArenaCudaContext *self = g_object_new (ARENA_TYPE_CUDA_CONTEXT, NULL);

  self->runtime = scope->runtime;
  self->device = device;
  self->can_register = has_attribute (scope, device, ARENA_CUDA_ATTRIBUTE_HOST_REGISTER);
  self->can_register_read_only = has_attribute (scope, device, ARENA_CUDA_ATTRIBUTE_READ_ONLY_HOST_REGISTER);
  self->page_locks = !has_attribute (scope, device, ARENA_CUDA_ATTRIBUTE_HOST_PAGE_TABLES);
  self->has_pools = has_attribute (scope, device, ARENA_CUDA_ATTRIBUTE_MEMORY_POOLS) &&
                    scope->api->cudaMallocAsync != NULL && scope->api->cudaFreeAsync != NULL;
  return self;
}

/* @name says where the number is from. */
static gboolean
check_number (const ArenaCudaRuntime *runtime,
              const char             *name,
              int                     device,
              GError                **error)
{
  int count;

  if (!arena_cuda_runtime_count_devices (runtime, &count, error))
    return FALSE;
  if (device >= 0 && device < count)
    return TRUE;

  g_set_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_BAD_RANK,
               "%s is %d and there are %d devices; %s", name, device, count,
               arena_cuda_error_get_advice (ARENA_CUDA_ERROR_BAD_RANK));
  return FALSE;
}

static ArenaCudaContext *
find_device (const char  *name,
             int          device,
             GError     **error)
{
  const ArenaCudaRuntime *runtime = arena_cuda_runtime_open (error);
  ArenaCudaContext *self;
  ArenaCudaScope scope;

  if (runtime == NULL || !check_number (runtime, name, device, error) ||
      !arena_cuda_scope_enter (&scope, runtime, ARENA_CUDA_ANY_DEVICE, error))
    return NULL;

  self = make_context (&scope, device);
  arena_cuda_scope_leave (&scope);
  return publish (self);
}

static ArenaCudaContext *
get_context (const char  *name,
             int          device,
             GError     **error)
{
  ArenaCudaContext *self;

  if (!arena_cuda_runtime_check_fork (error))
    return NULL;

  self = lookup (device);
  if (self == NULL)
    self = find_device (name, device, error);
  if (self != NULL)
    arena_cuda_retire_drain (NULL);
  return self;
}

/**
 * arena_cuda_context_get_for_device:
 * @device: the number of a device, from 0
 * @error: return location for an error, or `NULL`
 *
 * Gets the context of a device.
 *
 * May be called from any thread. Errors: `ARENA_CUDA_ERROR_UNAVAILABLE`, `ARENA_CUDA_ERROR_NO_DRIVER`,
 * `ARENA_CUDA_ERROR_NO_DEVICE`, `ARENA_CUDA_ERROR_BAD_RANK` for a number that is none, `ARENA_CUDA_ERROR_FORKED`.
 *
 * Returns: (transfer none): the context, or `NULL` with @error set
 *
 * Since: 0.1
 */
ArenaCudaContext *
arena_cuda_context_get_for_device (int      device,
                                   GError **error)
{
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return get_context ("The device", device, error);
}

/**
 * arena_cuda_context_get_default:
 * @error: return location for an error, or `NULL`
 *
 * Gets the context that pinned arenas use.
 *
 * It is that of the device whose number is in the environment variable `LOCAL_RANK`, or of device 0 where there is none.
 *
 * May be called from any thread. Errors: those of [func@Arena.CudaContext.get_for_device], and
 * `ARENA_CUDA_ERROR_BAD_RANK` where `LOCAL_RANK` is not the number of a device.
 *
 * Returns: (transfer none): the context, or `NULL` with @error set
 *
 * Since: 0.1
 */
ArenaCudaContext *
arena_cuda_context_get_default (GError **error)
{
  const char *rank = g_getenv ("LOCAL_RANK");
  gint64 device = 0;

  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (!arena_cuda_runtime_check_fork (error))
    return NULL;

  if (rank != NULL && !g_ascii_string_to_signed (rank, 10, 0, G_MAXINT, &device, NULL))
    {
      g_set_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_BAD_RANK,
                   "LOCAL_RANK is \"%s\", which is not the number of a device; %s", rank,
                   arena_cuda_error_get_advice (ARENA_CUDA_ERROR_BAD_RANK));
      return NULL;
    }

  return get_context (rank != NULL ? "LOCAL_RANK" : "The device", (int) device, error);
}

gboolean
arena_cuda_context_enter (ArenaCudaContext  *self,
                          ArenaCudaScope    *scope,
                          GError           **error)
{
  if (self->runtime != NULL)
    return arena_cuda_scope_enter (scope, self->runtime, self->device, error);

  g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE,
                       "This context was constructed by hand; get_default() and get_for_device() return one");
  return FALSE;
}
