/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-pinned-cache-private.h"

#include "cuda/arena-cuda-kept-private.h"
#include "cuda/arena-pinned-class-private.h"
#include "memory/arena-limits-private.h"
#include "memory/arena-pin-table-private.h"

/* Every buffer is somewhere: with whoever took it (in `loans`), cached (in the queue of its class and in `ages`), or on its
 * way there or to its end, which the device's list of retired things sees to. Each but the cached ones holds the cache.
 * The lock is never held during a call of CUDA.
 *
 * A buffer may be dropped on any thread, inside a collector, at exit, or in a forked child. CUDA is called then only if
 * streams were recorded or the cache is full; what fails with that is kept and tried again. */

typedef struct
{
  ArenaPinnedCache *cache; /* a reference, but while it is cached */
  guint8           *data;
  gsize             capacity;
  guint             class_index;
  GArray           *streams;    /* of guint64; NULL: none */
  GList             class_link;
  GList             age_link;
} Buffer;

struct _ArenaPinnedCache
{
  gatomicrefcount    ref_count;
  ArenaCudaDevice   *device;
  pthread_mutex_t    mutex;
  guint64            max_cached;
  guint64            limit;
  GTree             *loans;   /* address -> Buffer */
  GQueue             classes[ARENA_PINNED_N_CLASSES]; /* the one dropped last first */
  GQueue             ages;    /* the one dropped first first */
  ArenaPinnedCache  *next;    /* of those that a forked child dropped */
  ArenaPinnedFigures figures; /* but for waiting_bytes, which follow */
};

/* A child can't look into them, since another thread of its parent may have been at it; but a leak they are not. */
static ArenaPinnedCache *inherited;

static gint
compare_addresses (gconstpointer a,
                   gconstpointer b)
{
  return a < b ? -1 : a > b;
}

ArenaPinnedCache *
arena_pinned_cache_new (ArenaCudaDevice *device,
                        guint64          max_cached_bytes)
{
  ArenaPinnedCache *self = g_new0 (ArenaPinnedCache, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->device = device;
  pthread_mutex_init (&self->mutex, NULL);
  self->max_cached = max_cached_bytes;
  self->loans = g_tree_new (compare_addresses);
  return self;
}

ArenaPinnedCache *
arena_pinned_cache_ref (ArenaPinnedCache *self)
{
  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

/* With the lock. A cached buffer, oldest first; it holds the cache again. */
static Buffer *
take_cached (ArenaPinnedCache *self,
             Buffer           *buffer)
{
  g_queue_unlink (&self->classes[buffer->class_index], &buffer->class_link);
  g_queue_unlink (&self->ages, &buffer->age_link);
  self->figures.cached_bytes -= buffer->capacity;
  buffer->cache = arena_pinned_cache_ref (self);
  return buffer;
}

/* With the lock. Those that have to go so that @bytes are cached at most, as a list of links. */
static GSList *
take_surplus (ArenaPinnedCache *self,
              guint64           bytes)
{
  GSList *surplus = NULL;

  while (self->figures.cached_bytes > bytes)
    surplus = g_slist_prepend (surplus, take_cached (self, self->ages.head->data));

  return surplus;
}

/* Takes the buffer and its reference. */
static gboolean
free_buffer (gpointer         data,
             ArenaCudaScope  *scope,
             GError         **error)
{
  Buffer *buffer = data;
  ArenaPinnedCache *self = buffer->cache;
  gint64 began = g_get_monotonic_time ();

  /* Its place may be taken again at once. */
  arena_pin_table_remove (buffer->data);
  if (!arena_cuda_call (scope, ARENA_CUDA_ERROR_QUARANTINED, error, "a buffer of the cache", cudaFreeHost,
                        (buffer->data)))
    {
      arena_pin_table_add (buffer->data, buffer->capacity);
      return FALSE;
    }

  pthread_mutex_lock (&self->mutex);
  self->figures.allocated_bytes -= buffer->capacity;
  self->figures.n_frees++;
  self->figures.free_time += g_get_monotonic_time () - began;
  pthread_mutex_unlock (&self->mutex);
  g_free (buffer);
  arena_pinned_cache_unref (self);
  return TRUE;
}

/* Takes the list. */
static void
free_surplus (ArenaPinnedCache *self,
              GSList           *surplus)
{
  GError *error = NULL;
  ArenaCudaScope scope;
  gboolean entered = surplus != NULL && arena_cuda_device_enter (self->device, &scope, &error);

  for (GSList *link = surplus; link != NULL; link = link->next)
    {
      Buffer *buffer = link->data;

      if (entered)
        arena_cuda_device_retire (self->device, &scope, NULL, buffer->capacity, free_buffer, buffer, NULL);
      else
        arena_cuda_device_keep (self->device, NULL, 0, buffer->capacity, free_buffer, buffer, g_error_copy (error));
    }

  if (entered)
    arena_cuda_scope_leave (&scope);
  g_clear_error (&error);
  g_slist_free (surplus);
}

/* The cached ones hold no reference, so they are all that is left; each takes one for its own end. */
void
arena_pinned_cache_unref (ArenaPinnedCache *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  if (!arena_cuda_runtime_check_fork (NULL))
    {
      self->next = inherited;
      inherited = self;
      return;
    }

  if (self->ages.length > 0)
    {
      g_atomic_ref_count_init (&self->ref_count);
      self->max_cached = 0;
      arena_pinned_cache_trim (self);
      arena_pinned_cache_unref (self);
      return;
    }

  g_tree_unref (self->loans);
  pthread_mutex_destroy (&self->mutex);
  g_free (self);
}

void
arena_pinned_cache_set_max (ArenaPinnedCache *self,
                            guint64           max_cached_bytes)
{
  GSList *surplus;

  pthread_mutex_lock (&self->mutex);
  self->max_cached = max_cached_bytes;
  surplus = take_surplus (self, max_cached_bytes);
  pthread_mutex_unlock (&self->mutex);
  free_surplus (self, surplus);
}

void
arena_pinned_cache_set_limit (ArenaPinnedCache *self,
                              guint64           limit_bytes)
{
  pthread_mutex_lock (&self->mutex);
  self->limit = limit_bytes;
  pthread_mutex_unlock (&self->mutex);
}

void
arena_pinned_cache_trim (ArenaPinnedCache *self)
{
  GSList *surplus;

  pthread_mutex_lock (&self->mutex);
  surplus = take_surplus (self, 0);
  pthread_mutex_unlock (&self->mutex);
  free_surplus (self, surplus);
}

/* With the lock. */
static void
lend (ArenaPinnedCache *self,
      Buffer           *buffer)
{
  g_tree_insert (self->loans, buffer->data, buffer);
  self->figures.used_bytes += buffer->capacity;
}

static Buffer *
find_cached (ArenaPinnedCache *self,
             guint             class_index,
             gsize             capacity)
{
  for (GList *link = self->classes[class_index].head; link != NULL; link = link->next)
    {
      Buffer *buffer = link->data;

      if (buffer->capacity == capacity)
        return buffer;
    }

  return NULL;
}

static gpointer
take_from_cache (ArenaPinnedCache *self,
                 guint             class_index,
                 gsize             capacity)
{
  Buffer *buffer;

  pthread_mutex_lock (&self->mutex);
  buffer = find_cached (self, class_index, capacity);
  if (buffer != NULL)
    {
      lend (self, take_cached (self, buffer));
      self->figures.n_reuses++;
    }
  pthread_mutex_unlock (&self->mutex);
  return buffer != NULL ? buffer->data : NULL;
}

/* Counts the bytes before there are any, so that two threads don't pass the limit together. */
static gboolean
reserve (ArenaPinnedCache  *self,
         gsize              capacity,
         GError           **error)
{
  GSList *surplus = NULL;
  guint64 before, limit, others;

  pthread_mutex_lock (&self->mutex);
  before = self->figures.allocated_bytes;
  limit = self->limit;
  others = before - self->figures.cached_bytes;
  if (limit != 0 && before + capacity > limit && others + capacity <= limit)
    surplus = take_surplus (self, limit - others - capacity);
  if (limit == 0 || others + capacity <= limit)
    self->figures.allocated_bytes += capacity;
  pthread_mutex_unlock (&self->mutex);

  free_surplus (self, surplus);
  if (limit == 0 || others + capacity <= limit)
    return TRUE;

  g_set_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NO_MEMORY,
               "%" G_GSIZE_FORMAT " bytes of pinned memory are over the limit of %" G_GUINT64_FORMAT ": %" G_GUINT64_FORMAT
               " are in use; drop some, or raise limit-bytes",
               capacity, limit, others);
  return FALSE;
}

static gboolean
fits (gsize    capacity,
      GError **error)
{
  return arena_limits_check_pinned (capacity, arena_pin_table_measure (NULL, G_MAXSIZE, NULL), NULL, error);
}

/* Where a group of processes has no room, CUDA wouldn't say so: the kernel would end one of them. What is cached may be what
 * is missing. */
static gboolean
check_budget (ArenaPinnedCache  *self,
              gsize              capacity,
              GError           **error)
{
  g_autoptr(GError) local_error = NULL;

  if (fits (capacity, NULL))
    return TRUE;

  arena_pinned_cache_trim (self);
  if (fits (capacity, &local_error))
    return TRUE;

  g_set_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NO_MEMORY, "%" G_GSIZE_FORMAT " bytes of pinned memory: %s; %s",
               capacity, local_error->message, arena_cuda_error_get_advice (ARENA_CUDA_ERROR_NO_MEMORY));
  return FALSE;
}

/* Likewise. */
static gpointer
call_allocator (ArenaPinnedCache  *self,
                ArenaCudaScope    *scope,
                gsize              capacity,
                GError           **error)
{
  g_autofree char *what = g_strdup_printf ("%" G_GSIZE_FORMAT " bytes of pinned memory", capacity);
  g_autoptr(GError) first = NULL;
  gpointer data = NULL;

  if (arena_cuda_call (scope, ARENA_CUDA_ERROR_NO_MEMORY, &first, what, cudaHostAlloc,
                       (&data, capacity, ARENA_CUDA_HOST_ALLOC_PORTABLE)))
    return data;
  if (scope->status != ARENA_CUDA_STATUS_MEMORY_ALLOCATION)
    {
      g_propagate_error (error, g_steal_pointer (&first));
      return NULL;
    }

  arena_pinned_cache_trim (self);
  if (arena_cuda_call (scope, ARENA_CUDA_ERROR_NO_MEMORY, error, what, cudaHostAlloc,
                       (&data, capacity, ARENA_CUDA_HOST_ALLOC_PORTABLE)))
    return data;

  return NULL;
}

static Buffer *
create_buffer (ArenaPinnedCache *self,
               gpointer          data,
               guint             class_index,
               gsize             capacity)
{
  Buffer *buffer = g_new0 (Buffer, 1);

  buffer->cache = arena_pinned_cache_ref (self);
  buffer->data = data;
  buffer->capacity = capacity;
  buffer->class_index = class_index;
  buffer->class_link.data = buffer;
  buffer->age_link.data = buffer;
  return buffer;
}

static gpointer
allocate (ArenaPinnedCache  *self,
          ArenaCudaScope    *scope,
          guint              class_index,
          gsize              capacity,
          GError           **error)
{
  gint64 began = g_get_monotonic_time ();
  gpointer data;

  if (!check_budget (self, capacity, error) || !reserve (self, capacity, error))
    return NULL;

  data = call_allocator (self, scope, capacity, error);
  pthread_mutex_lock (&self->mutex);
  self->figures.allocation_time += g_get_monotonic_time () - began;
  if (data != NULL)
    {
      lend (self, create_buffer (self, data, class_index, capacity));
      self->figures.n_allocations++;
    }
  else
    self->figures.allocated_bytes -= capacity;
  pthread_mutex_unlock (&self->mutex);
  if (data != NULL)
    arena_pin_table_add (data, capacity);
  return data;
}

gpointer
arena_pinned_cache_take (ArenaPinnedCache  *self,
                         gsize              size,
                         GError           **error)
{
  guint class_index = 0;
  gsize capacity = 0;
  ArenaCudaScope scope;
  gpointer data;

  if (!arena_pinned_class_find (size, &class_index, &capacity))
    {
      g_set_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NO_MEMORY,
                   "%" G_GSIZE_FORMAT " bytes can't be pinned", size);
      return NULL;
    }

  if (!arena_cuda_runtime_check_fork (error))
    return NULL;

  data = take_from_cache (self, class_index, capacity);
  if (data != NULL)
    return data;
  if (!arena_cuda_device_enter (self->device, &scope, error))
    return NULL;

  /* What has waited for a stream may fit by now. */
  arena_cuda_device_sweep (self->device, &scope);
  data = take_from_cache (self, class_index, capacity);
  if (data == NULL)
    data = allocate (self, &scope, class_index, capacity, error);
  arena_cuda_scope_leave (&scope);
  return data;
}

/* With the lock. The buffer that has @data; any address in it will do. */
static Buffer *
find_loan (ArenaPinnedCache *self,
           gconstpointer     data)
{
  GTreeNode *after = g_tree_upper_bound (self->loans, data);
  GTreeNode *node = after != NULL ? g_tree_node_previous (after) : g_tree_node_last (self->loans);
  Buffer *buffer = node != NULL ? g_tree_node_value (node) : NULL;

  return buffer != NULL && (const guint8 *) data < buffer->data + buffer->capacity ? buffer : NULL;
}

/* Nobody uses the buffer any more. */
static gboolean
put_back (gpointer         data,
          ArenaCudaScope  *scope,
          GError         **error)
{
  Buffer *buffer = data;
  ArenaPinnedCache *self = buffer->cache;
  GSList *surplus;

  pthread_mutex_lock (&self->mutex);
  g_queue_push_head_link (&self->classes[buffer->class_index], &buffer->class_link);
  g_queue_push_tail_link (&self->ages, &buffer->age_link);
  self->figures.cached_bytes += buffer->capacity;
  buffer->cache = NULL;
  surplus = take_surplus (self, self->max_cached);
  pthread_mutex_unlock (&self->mutex);

  free_surplus (self, surplus);
  arena_pinned_cache_unref (self);
  return TRUE;
}

static void
wait_for_streams (Buffer *buffer)
{
  ArenaCudaDevice *device = buffer->cache->device;
  g_autoptr(GArray) streams = g_steal_pointer (&buffer->streams);
  const guint64 *handles = (const guint64 *) (gconstpointer) streams->data;
  GError *error = NULL;
  ArenaCudaScope scope;

  if (!arena_cuda_device_enter (device, &scope, &error))
    {
      arena_cuda_device_keep (device, handles, streams->len, buffer->capacity, put_back, buffer, error);
      return;
    }

  arena_cuda_device_retire (device, &scope, arena_cuda_fence_new (device, &scope, handles, streams->len),
                            buffer->capacity, put_back, buffer, NULL);
  arena_cuda_scope_leave (&scope);
}

static void
give_back (gpointer data)
{
  Buffer *buffer = data;
  ArenaPinnedCache *self = buffer->cache;

  /* It is the parent's, and so is the lock, perhaps. */
  if (!arena_cuda_runtime_check_fork (NULL))
    {
      arena_pinned_cache_unref (self);
      return;
    }

  pthread_mutex_lock (&self->mutex);
  g_tree_remove (self->loans, buffer->data);
  self->figures.used_bytes -= buffer->capacity;
  pthread_mutex_unlock (&self->mutex);

  if (buffer->streams != NULL)
    wait_for_streams (buffer);
  else
    put_back (buffer, NULL, NULL);
}

GBytes *
arena_pinned_cache_finish (ArenaPinnedCache *self,
                           gpointer          data,
                           gsize             size)
{
  Buffer *buffer;

  pthread_mutex_lock (&self->mutex);
  buffer = g_tree_lookup (self->loans, data);
  pthread_mutex_unlock (&self->mutex);
  return g_bytes_new_with_free_func (data, size, give_back, buffer);
}

gboolean
arena_pinned_cache_record_stream (ArenaPinnedCache *self,
                                  gconstpointer     data,
                                  guint64           stream)
{
  Buffer *buffer;
  gboolean known = FALSE;

  pthread_mutex_lock (&self->mutex);
  buffer = find_loan (self, data);
  if (buffer != NULL)
    {
      if (buffer->streams == NULL)
        buffer->streams = g_array_new (FALSE, FALSE, sizeof stream);
      for (guint i = 0; i < buffer->streams->len && !known; i++)
        known = g_array_index (buffer->streams, guint64, i) == stream;
      if (!known)
        g_array_append_val (buffer->streams, stream);
    }
  pthread_mutex_unlock (&self->mutex);
  return buffer != NULL;
}

void
arena_pinned_cache_get_figures (ArenaPinnedCache   *self,
                                ArenaPinnedFigures *figures)
{
  *figures = (ArenaPinnedFigures) { 0 };
  if (!arena_cuda_runtime_check_fork (NULL))
    return;

  pthread_mutex_lock (&self->mutex);
  *figures = self->figures;
  pthread_mutex_unlock (&self->mutex);
  figures->waiting_bytes = figures->allocated_bytes - figures->used_bytes - figures->cached_bytes;
}
